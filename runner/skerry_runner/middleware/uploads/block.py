"""The block before the user's text that says which files there are. Pure."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from langchain_core.messages import HumanMessage

from skerry_runner.messages import ORIGINAL
from skerry_runner.paths import UPLOADS
from skerry_runner.state import UploadedFile
from skerry_runner.tools.text import printable

__all__ = ["FILES", "render_block", "size_text", "with_block"]

FILES = "files"
"""Key in additional_kwargs: the files of the message, [{name, size, type, path, new}]."""
EARLIER = "Earlier in this conversation:"
EARLIER_UNSEEN = "Earlier in this conversation (gone, if you work in a new sandbox since):"


def size_text(size: int) -> str:
    """A size as people read it, with one decimal."""
    if size < 1024:
        return f"{size} bytes"
    return f"{size / 1024:.1f} KB" if size < 1024 * 1024 else f"{size / 1024 / 1024:.1f} MB"


def _safe(text: str) -> str:
    return html.escape(printable(text), quote=False)


def _entry(file: UploadedFile) -> list[str]:
    head = f"- {_safe(file['name'])} ({size_text(file['size'])}, {_safe(file['type'])}): {UPLOADS}/{_safe(file['name'])}"
    return [head, *(f"    | {_safe(line)}" for line in file["outline"])]


def _rest(files: Sequence[UploadedFile]) -> str:
    kinds = Counter(PurePosixPath(file["name"]).suffix.lower() or "no suffix" for file in files)
    listed = ", ".join(f"{count} × {_safe(kind)}" for kind, count in sorted(kinds.items()))
    return f"- … and {len(files)} more in {UPLOADS} ({listed})"


def render_block(
    new: Sequence[UploadedFile], older: Sequence[UploadedFile], *, shown: int, seen: bool = True
) -> str:
    """Files of this message, then those of earlier ones, newest first; `shown` of them one by one.

    `seen`: the older ones are there; else only a look into the sandbox can tell.
    """
    room = shown
    lines = ["<uploads>", "Files that the user gave. Read them with your tools where you need them."]
    for title, files in (("With this message:", new), (EARLIER if seen else EARLIER_UNSEEN, older[::-1])):
        if not files:
            continue
        lines.append(title)
        for file in files[:room]:
            lines += _entry(file)
        if rest := files[room:]:
            lines.append(_rest(rest))
        room = max(0, room - len(files))
    return "\n".join([*lines, "</uploads>"])


def with_block(
    message: HumanMessage,
    new: Sequence[UploadedFile],
    older: Sequence[UploadedFile],
    *,
    shown: int,
    seen: bool = True,
) -> HumanMessage:
    """The message with the block before its text, under the same id; done again, it is done once."""
    text = render_block(new, older, shown=shown, seen=seen)
    original = message.additional_kwargs.get(ORIGINAL, message.content)
    listed: list[dict[str, Any]] = [
        {key: file[key] for key in ("name", "size", "type")}
        | {"path": f"{UPLOADS}/{file['name']}", "new": fresh}
        for files, fresh in ((new, True), (older, False))
        for file in files
    ]
    content: str | list[Any] = (
        f"{text}\n\n{original}" if isinstance(original, str) else [{"type": "text", "text": text}, *original]
    )
    kwargs = {**message.additional_kwargs, ORIGINAL: original, FILES: listed}
    return message.model_copy(update={"content": content, "additional_kwargs": kwargs})
