"""What is handed a text to run: shells, eval, source, xargs, ssh, su and the like."""

from __future__ import annotations

from collections.abc import Sequence

from skerry_runner.audit.finder import Finder, Handler
from skerry_runner.audit.handing import parallel, xargs
from skerry_runner.audit.options import split_options
from skerry_runner.audit.paths import resolve
from skerry_runner.audit.running import SHELL_NAMES, run_argument, run_text, script
from skerry_runner.audit.values import EMPTY, Taint, Text, join, unknown

__all__ = ["SHELLS"]

_STDIN = frozenset({"-", "/dev/stdin", "/proc/self/fd/0", "/dev/fd/0"})


def _shell(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text | None:
    words = [arg.text for arg in args]
    options = split_options(args, {"o", "O", "rcfile", "init-file", "c"} - {"c"}, stop=True)
    if options.has("", "version", "help") or "n" in options.flags:
        return None
    for start in (options.value("rcfile", "init-file"),):
        if start is not None:
            run_text(judge, judge.files.get(start.text, EMPTY), "shell")
    if "i" in options.flags and any(word.startswith("/dev/tcp") for word in words):
        judge.find("reverse-shell")
    rest = options.operands
    if "c" in options.flags or "command" in options.flags:
        if not rest:
            return None
        return (
            run_argument(judge, rest[0], stdin, rest[2:]) if len(rest) < 2 else _with_zero(judge, rest, stdin)
        )
    if not rest or "s" in options.flags or rest[0].text in _STDIN:
        return run_text(judge, stdin, "shell", rest)
    return script(judge, rest[0], "shell", rest[1:])


def _with_zero(judge: Finder, rest: Sequence[Text], stdin: Text | None) -> Text | None:
    before = judge.vars.get("0")
    judge.vars["0"] = [rest[1]]
    out = run_argument(judge, rest[0], stdin, rest[2:])
    judge.vars.pop("0")
    if before is not None:
        judge.vars["0"] = before
    return out


def _eval(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text | None:
    return run_argument(judge, join(args or [EMPTY], " "), stdin, judge.positional or ())


def _source(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text | None:
    operands = split_options(args, stop=True).operands
    if not operands:
        return None
    if operands[0].text in _STDIN:
        return run_text(judge, stdin, "shell")
    return script(judge, operands[0], "shell", operands[1:])


def _remote(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text | None:
    valued = frozenset(
        [
            "B",
            "b",
            "c",
            "D",
            "E",
            "e",
            "F",
            "I",
            "i",
            "J",
            "L",
            "l",
            "m",
            "O",
            "o",
            "p",
            "Q",
            "R",
            "S",
            "W",
            "w",
        ]
    )
    options = split_options(args, valued, stop=True)
    for name, value in options.values:
        if name == "o" and value.text.lower().startswith(("proxycommand=", "localcommand=")):
            judge.code(value.text.partition("=")[2])
    rest = options.operands[1:]
    if rest:
        judge.code(" ".join(arg.text for arg in rest), stdin)
        if len(rest) > 1:
            judge.call(rest, stdin)
    elif stdin is not None and stdin.known and options.operands:
        judge.code(stdin.text)
    return unknown(Taint.NET)


def _flag_code(flags: str, valued: str = "", rule: str | None = None, *, bare: bool = False) -> Handler:
    """A command that runs the value of an option as shell code; with `bare`, its operands as well."""
    names = set(flags.split())

    def handler(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text | None:
        if rule is not None:
            judge.find(rule)
        options = split_options(args, names | set(valued.split()), stop=bare)
        for name, value in options.values:
            if name in names:
                run_argument(judge, value, stdin, ())
        if bare and options.operands:
            judge.code(" ".join(arg.text for arg in options.operands), stdin)
        return None

    return handler


def _flock(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text | None:
    options = split_options(args, {"w", "E", "timeout", "conflict-exit-code"}, stop=True)
    rest = options.operands[1:]
    if len(rest) > 1 and rest[0].text in {"-c", "--command"}:
        return judge.code(rest[1].text, stdin)
    return judge.call(rest, stdin) if rest else None


def _trap(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text | None:
    operands = split_options(args, stop=True).operands
    if len(operands) > 1:
        judge.code(operands[0].text)
    return None


def _alias(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text | None:
    for arg in args:
        _name, equals, text = arg.text.partition("=")
        if equals:
            judge.code(text)
    return None


def _stdin_later(judge: Finder, _: str, __: Sequence[Text], stdin: Text | None) -> Text | None:
    return run_text(judge, stdin, "shell")


def _set(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text | None:
    words = [arg.text for arg in args]
    if "--" in words:
        judge.positional = list(args[words.index("--") + 1 :])
        return EMPTY
    return None if args else unknown(Taint.ENVIRONMENT)


def _cd(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text | None:
    from skerry_runner.audit.paths import HOME

    operands = split_options(args).operands
    judge.cwd = (
        HOME if not operands else None if operands[0].text == "-" else resolve(operands[0].text, judge.cwd)
    )
    return EMPTY


SHELLS: dict[str, Handler] = {
    **dict.fromkeys(SHELL_NAMES, _shell),
    "eval": _eval, "source": _source, ".": _source, "xargs": xargs, "parallel": parallel, "ssh": _remote,
    "su": _flag_code("c command", "s g G shell", "privilege"), "script": _flag_code("c command", "B E I O T"),
    "watch": _flag_code("", "n d interval", bare=True), "tmux": _flag_code("", "L S f t s n c x y", bare=False),
    "sg": _flag_code("c", rule="privilege"), "flock": _flock, "trap": _trap, "alias": _alias, "at": _stdin_later, "batch": _stdin_later,
    "zip": _flag_code("TT unzip-command", "b t n i x"),
    "cd": _cd, "pushd": _cd, "set": _set, "sshpass": _flag_code("", "p f"),
}  # fmt: skip
