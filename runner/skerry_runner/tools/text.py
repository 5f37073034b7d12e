"""Bytes into text that a model can take, and long texts into short ones. Pure."""

from __future__ import annotations

__all__ = ["cut_head", "cut_middle", "decode", "is_binary", "printable"]

BINARY_PROBE = 8192


def decode(raw: bytes) -> str:
    r"""UTF-8; what is not, and NUL, which many stores refuse, becomes `\xNN`: nothing is lost."""
    return raw.decode("utf-8", "backslashreplace").replace("\0", "\\x00")


def printable(text: str) -> str:
    r"""One line that shows what it is: control characters, and what turns or hides text, become `\xNN` or `\uNNNN`."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def is_binary(raw: bytes) -> bool:
    """Whether a file that begins so is no text: there is a NUL in it."""
    return b"\0" in raw[:BINARY_PROBE]


def cut_middle(text: str, limit: int) -> str:
    """At most `limit` characters, marker included: the beginning and the end. 0 is no limit."""
    if limit <= 0 or len(text) <= limit:
        return text
    marker = f"\n… {len(text) - limit} or more characters left out …\n"
    room = limit - len(marker)
    if room <= 0:
        return text[:limit]
    head = room - room // 2
    return text[:head] + marker + text[len(text) - room // 2 :]


def cut_head(text: str, limit: int, hint: str) -> str:
    """At most `limit` characters, marker included: the beginning, and `hint` how to see more. 0 is no limit."""
    if limit <= 0 or len(text) <= limit:
        return text
    marker = f"\n… cut at {limit} of {len(text)} characters; {hint} …"
    room = limit - len(marker)
    return text[:limit] if room <= 0 else text[:room] + marker
