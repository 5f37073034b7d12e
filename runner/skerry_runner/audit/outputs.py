"""Commands whose output can be told: echo, printf, cat and what decodes."""

from __future__ import annotations

import base64
import binascii
import posixpath
import re
from collections.abc import Sequence

from skerry_runner.audit.assignments import check_assignment
from skerry_runner.audit.escapes import ansi
from skerry_runner.audit.finder import Finder, Handler
from skerry_runner.audit.options import split_options
from skerry_runner.audit.paths import resolve
from skerry_runner.audit.values import EMPTY, UNKNOWN, Taint, Text, join, plain, unknown

__all__ = ["OUTPUTS"]

PRINTED_MAX = 10_000
_FORMAT = re.compile(r"%(?:[-+ #0]*\d*(?:\.\d+)?([bcdiqsuxX])|%)")


def _echo(_: Finder, __: str, args: Sequence[Text], ___: Text | None) -> Text:
    rest = list(args)
    escapes, newline = False, "\n"
    while rest and re.fullmatch(r"-[neE]+", rest[0].text):
        flags = rest.pop(0).text
        escapes, newline = "e" in flags, "" if "n" in flags else newline
    out = join(rest or [EMPTY], " ")
    return Text((ansi(out.text) if escapes else out.text) + newline, taint=out.taint)


def _printf(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text:
    rest = list(args)
    variable = None
    if len(rest) > 1 and rest[0].text == "-v":
        variable, rest = rest[1].text, rest[2:]
    if rest and rest[0].text == "--":
        rest = rest[1:]
    if not rest:
        return EMPTY
    template, values = ansi(rest[0].text), rest[1:]
    taint = frozenset(t for text in rest for t in text.taint)
    out = ""
    while True:
        printed, used = _formatted(template, values)
        out += printed
        values = values[used:]
        if not values or not used or len(out) > PRINTED_MAX:
            break
    result = Text(out, taint=taint)
    if variable is not None:
        judge.vars[variable] = [result]
        check_assignment(judge, variable, result)
        return EMPTY
    return result


def _formatted(template: str, values: Sequence[Text]) -> tuple[str, int]:
    """The template filled once, and how many values that took."""
    rest = iter(values)
    used = 0

    def one(match: re.Match[str]) -> str:
        nonlocal used
        kind = match.group(1)
        if kind is None:
            return "%"
        value = next(rest, EMPTY).text
        used += 1
        return ansi(value) if kind == "b" else value

    return _FORMAT.sub(one, template), min(used, len(values))


def _cat(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text:
    operands = split_options(args).operands
    if not operands:
        return stdin or EMPTY
    return join([_file(judge, operand, stdin) for operand in operands])


def _file(judge: Finder, operand: Text, stdin: Text | None) -> Text:
    if operand.text in {"-", "/dev/stdin"}:
        return stdin or EMPTY
    known = judge.files.get(resolve(operand.text, judge.cwd) or "")
    return known or unknown(Taint.FILE)


def _base64(judge: Finder, name: str, args: Sequence[Text], stdin: Text | None) -> Text:
    options = split_options(args, {"w", "wrap"})
    source = _file(judge, options.operands[0], stdin) if options.operands else stdin or EMPTY
    if not options.has("dD", "decode"):
        return unknown(Taint.COMMAND, also=source)
    try:
        decoded = (
            base64.b64decode(source.text.strip(), validate=True).decode()
            if source.known and name == "base64"
            else UNKNOWN
        )
    except (ValueError, binascii.Error):
        decoded = UNKNOWN
    return Text(decoded, taint=source.taint | {Taint.DECODED})


def _decoder(_: Finder, name: str, args: Sequence[Text], stdin: Text | None) -> Text | None:
    words = [arg.text for arg in args]
    options = split_options(args)
    decodes = {
        "xxd": "r" in options.flags,
        "openssl": ("enc" in words and "-d" in words) or "-d" in words,
        "base32": options.has("d", "decode"),
        "basenc": options.has("d", "decode"),
        "gpg": options.has("d", "decrypt"),
    }.get(name, True)
    return unknown(Taint.DECODED, also=stdin) if decodes else None


def _rev(_: Finder, __: str, args: Sequence[Text], stdin: Text | None) -> Text | None:
    if args or stdin is None or not stdin.known:
        return None
    return Text("\n".join(line[::-1] for line in stdin.text.split("\n")), taint=stdin.taint)


def _which(_: Finder, __: str, args: Sequence[Text], ___: Text | None) -> Text | None:
    operands = split_options(args).operands
    return plain(operands[0].text) if operands else None


def _environment(_: Finder, __: str, args: Sequence[Text], ___: Text | None) -> Text | None:
    return None if args else unknown(Taint.ENVIRONMENT)


def _tee(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text | None:
    options = split_options(args)
    for operand in options.operands:
        if place := judge.write(operand):
            judge.keep(place, stdin or unknown(), appends=options.has("a", "append"))
    return stdin


def _read(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text:
    options = split_options(args, {"a", "d", "i", "n", "N", "p", "t", "u"})
    if (array := options.value("a")) is not None:
        judge.vars[array.text] = (
            [plain(word) for word in stdin.text.split("\n")[0].split()]
            if stdin is not None and stdin.known
            else [unknown(also=stdin)]
        )
        return EMPTY
    names = options.operands or [plain("REPLY")]
    if stdin is not None and stdin.known:
        words = stdin.text.split("\n")[0].split(None, len(names) - 1)
        values = [plain(word) for word in words] + [EMPTY] * len(names)
    else:
        values = [unknown(Taint.FORM, also=stdin)] * len(names)
    for name, value in zip(names, values, strict=False):
        judge.vars[name.text] = [value]
    return EMPTY


def _mapfile(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text:
    names = split_options(args, {"d", "n", "O", "s", "u", "C", "c"}).operands or [plain("MAPFILE")]
    if stdin is not None and stdin.known:
        judge.vars[names[0].text] = [Text(line, taint=stdin.taint) for line in stdin.text.splitlines()]
    else:
        judge.vars[names[0].text] = [unknown(also=stdin)]
    return EMPTY


def _declare(_: Finder, __: str, args: Sequence[Text], ___: Text | None) -> Text | None:
    return EMPTY if split_options(args).operands else unknown(Taint.ENVIRONMENT)


def _path(judge: Finder, name: str, args: Sequence[Text], _: Text | None) -> Text | None:
    operands = split_options(args).operands
    if name == "pwd" or not operands:
        return plain(judge.cwd) if name == "pwd" and judge.cwd is not None else None
    text = operands[0]
    if not text.known:
        return None
    if name == "dirname":
        return Text(posixpath.dirname(text.text) or ".", taint=text.taint)
    if name == "basename":
        return Text(posixpath.basename(text.text.rstrip("/")), taint=text.taint)
    place = resolve(text.text, judge.cwd)
    return None if place is None else plain(place)


OUTPUTS: dict[str, Handler] = {
    **dict.fromkeys(("mapfile", "readarray"), _mapfile),
    **dict.fromkeys(("export", "declare", "typeset", "readonly", "local"), _declare),
    **dict.fromkeys(("dirname", "basename", "realpath", "readlink", "pwd"), _path),
    "echo": _echo, "printf": _printf, "cat": _cat, "base64": _base64, "rev": _rev, "which": _which, "tee": _tee,
    "read": _read, "printenv": _environment, "set": _environment,
    **dict.fromkeys(("xxd", "openssl", "base32", "basenc", "gpg", "uudecode"), _decoder),
}  # fmt: skip
