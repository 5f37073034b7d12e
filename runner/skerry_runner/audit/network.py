"""Commands that fetch from the network, send to it, or tie it to a shell."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skerry_runner.audit.finder import Finder, Handler
from skerry_runner.audit.options import split_options
from skerry_runner.audit.values import EMPTY, Taint, Text, unknown

__all__ = ["NETWORK"]

_METADATA = re.compile(
    r"169\.254\.169\.254|metadata\.google\.internal|100\.100\.100\.200|\[?fd00:ec2::254|169\.254\.170\.2|0xa9fea9fe|2852039166|metadata\.azure",
    re.IGNORECASE,
)
_CURL = frozenset(
    [
        "o",
        "O",
        "d",
        "H",
        "X",
        "u",
        "A",
        "e",
        "b",
        "c",
        "F",
        "T",
        "m",
        "x",
        "C",
        "r",
        "w",
        "K",
        "E",
        "y",
        "Y",
        "z",
        "P",
        "Q",
        "t",
        "output",
        "data",
        "header",
        "request",
        "user",
        "user-agent",
        "referer",
        "cookie",
        "cookie-jar",
        "form",
        "upload-file",
        "max-time",
        "connect-timeout",
        "retry",
        "proxy",
        "data-binary",
        "data-raw",
        "data-urlencode",
        "url",
        "cacert",
        "cert",
        "key",
        "resolve",
        "output-dir",
        "json",
        "retry-delay",
        "retry-max-time",
        "limit-rate",
        "write-out",
    ]
) - {"O"}
_WGET = frozenset(
    [
        "O",
        "o",
        "a",
        "P",
        "i",
        "t",
        "T",
        "w",
        "e",
        "U",
        "output-document",
        "directory-prefix",
        "input-file",
        "tries",
        "timeout",
        "header",
        "user-agent",
        "post-data",
        "post-file",
        "user",
        "password",
    ]
)


def _sends(judge: Finder, args: Sequence[Text], stdin: Text | None) -> None:
    """What every command that talks to the network is looked at for."""
    if any(_METADATA.search(arg.text) for arg in args):
        judge.find("cloud-metadata")
    taints = [arg.taint for arg in args] + ([stdin.taint] if stdin is not None else [])
    if any(Taint.ENVIRONMENT in taint for taint in taints):
        judge.find("send-environment")


def _save(judge: Finder, target: Text) -> None:
    if place := judge.write(target):
        judge.keep(place, unknown(Taint.NET))


def _basename(url: Text) -> Text:
    return Text(
        re.sub(r"[?#].*", "", url.text).rstrip("/").rsplit("/", 1)[-1] or "index.html", taint=url.taint
    )


def _curl(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text:
    _sends(judge, args, stdin)
    options = split_options(args, _CURL)
    targets = [value for name, value in options.values if name in {"o", "output"}]
    for target in targets:
        if target.text == "-":
            return unknown(Taint.NET)
        _save(judge, target)
    if options.flags & {"O", "remote-name", "remote-name-all"}:
        for url in options.operands:
            _save(judge, _basename(url))
        return EMPTY
    return EMPTY if targets else unknown(Taint.NET)


def _wget(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text:
    _sends(judge, args, stdin)
    options = split_options(_clusters(args), _WGET)
    target = options.value("O", "output-document")
    if target is not None:
        if target.text == "-":
            return unknown(Taint.NET)
        _save(judge, target)
        return EMPTY
    folder = options.value("P", "directory-prefix")
    for url in options.operands:
        name = _basename(url)
        _save(judge, Text(f"{folder.text}/{name.text}") if folder is not None else name)
    return EMPTY


def _clusters(args: Sequence[Text]) -> list[Text]:
    """`-qO-` as wget reads it."""
    found: list[Text] = []
    for arg in args:
        match = re.fullmatch(r"-([a-zN]*)O(.+)", arg.text)
        if match and not arg.text.startswith("--"):
            found += [Text("-O"), Text(match.group(2), taint=arg.taint)]
        else:
            found.append(arg)
    return found


def _netcat(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text:
    _sends(judge, args, stdin)
    for arg in args:
        if re.fullmatch(r"-[a-z0-9]*[ec]|--exec|--sh-exec|--exec=.*|--sh-exec=.*|--lua-exec.*", arg.text):
            judge.find("reverse-shell")
    return unknown(Taint.NET)


def _socat(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text:
    _sends(judge, args, stdin)
    if any(re.search(r"\b(exec|system|shell)\s*:", arg.text, re.IGNORECASE) for arg in args):
        judge.find("reverse-shell")
    return unknown(Taint.NET)


def _fetch(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text:
    _sends(judge, args, stdin)
    return unknown(Taint.NET)


NETWORK: dict[str, Handler] = {
    "curl": _curl, "wget": _wget, "nc": _netcat, "ncat": _netcat, "netcat": _netcat, "nc.openbsd": _netcat, "nc.traditional": _netcat,
    "socat": _socat,
    **dict.fromkeys(
        ("http", "https", "httpie", "xh", "aria2c", "axel", "lynx", "links", "w3m", "fetch", "telnet", "ftp", "tftp", "sftp", "scp", "lwp-request", "GET", "dig", "nslookup", "host", "s3cmd", "aws", "gsutil", "rclone", "mail", "sendmail", "wscat", "websocat"),
        _fetch,
    ),
}  # fmt: skip
