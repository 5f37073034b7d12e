"""Commands that make commands of the lines they read: xargs and parallel."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skerry_runner.audit.finder import Finder
from skerry_runner.audit.options import split_options
from skerry_runner.audit.running import SHELL_NAMES, run_text
from skerry_runner.audit.values import EMPTY, UNKNOWN, Taint, Text, join, plain, unknown

__all__ = ["parallel", "xargs"]


def xargs(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text | None:
    valued = {
        "I",
        "i",
        "n",
        "P",
        "L",
        "l",
        "s",
        "d",
        "E",
        "a",
        "replace",
        "max-args",
        "max-procs",
        "delimiter",
        "arg-file",
    } - {"i", "l"}
    options = split_options(args, valued, stop=True)
    command = options.operands or [plain("echo")]
    source = stdin if options.value("a", "arg-file") is None else unknown(Taint.FILE)
    mark = options.value("I", "replace")
    if mark is None and options.flags & {"i", "replace", "I"}:
        mark = plain("{}")
    items = _items(source, whole="0" in options.flags or "null" in options.flags, lines=mark is not None)
    if mark is not None and mark.text:
        for item in items[:20]:
            _hand_over(judge, [_filled(arg, mark.text, item) for arg in command], appended=False)
        return None
    _hand_over(judge, [*command, *items], appended=True)
    return None


def _items(source: Text | None, *, whole: bool, lines: bool) -> list[Text]:
    """What xargs makes of its input: words, lines, or what null bytes end."""
    if source is None or not source.known:
        taint = (source.taint if source else frozenset()) | {Taint.FORM}
        rooted = source is not None and source.text.startswith(f"/{UNKNOWN}")
        return [Text(f"/{UNKNOWN}" if rooted else UNKNOWN, taint=taint)]
    if whole:
        found = source.text.rstrip("\n").split("\0")
    elif lines:
        found = [line.strip() for line in source.text.split("\n")]
    else:
        found = re.split(r"\s+", source.text.replace("'", "").replace('"', ""))
    return [Text(item, taint=source.taint) for item in found if item][:200]


def _filled(arg: Text, mark: str, item: Text) -> Text:
    if mark not in arg.text:
        return arg
    return Text(arg.text.replace(mark, item.text), arg.glob, arg.taint | item.taint)


def _hand_over(judge: Finder, command: Sequence[Text], *, appended: bool) -> None:
    """Names from a list become arguments; a shell that takes them for code runs what nobody has seen."""
    name = command[0].text.rsplit("/", 1)[-1]
    if name in SHELL_NAMES and len(command) > 1:
        code = next(
            (command[at + 1] for at, arg in enumerate(command[:-1]) if re.fullmatch(r"-[a-z]*c", arg.text)),
            None,
        )
        if code is not None and code.text.lstrip().startswith(UNKNOWN):
            judge.find("run-download" if Taint.NET in code.taint else "run-unseen")
            return
        if appended and code is None and Taint.NET in command[-1].taint:
            judge.find("saved-download")
    if command[0].text == UNKNOWN:
        judge.find("run-unseen")
        return
    judge.call(command, None)


def parallel(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text | None:
    words = [arg.text for arg in args]
    at = next((i for i, word in enumerate(words) if re.fullmatch(r":::+\+?", word)), len(words))
    options = split_options(
        args[:at],
        {"j", "jobs", "n", "N", "a", "arg-file", "colsep", "joblog", "S", "timeout", "delay"},
        stop=True,
    )
    items = [arg for arg in args[at + 1 :] if not arg.text.startswith(":::")] or [
        unknown(Taint.FORM, also=stdin)
    ]
    command = join(options.operands or [EMPTY], " ")
    for item in items[:20]:
        if not command.text:
            run_text(judge, Text(item.text, taint=item.taint), "shell")
        elif "{}" in command.text:
            judge.code(command.text.replace("{}", item.text))
        else:
            judge.code(f"{command.text} {item.text}")
    return None
