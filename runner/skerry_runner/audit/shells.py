"""What is handed a text to run: shells, eval, source, xargs, ssh, su and the like."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skerry_runner.audit.finder import Finder, Handler
from skerry_runner.audit.options import split_options
from skerry_runner.audit.paths import resolve
from skerry_runner.audit.programs import judge_program
from skerry_runner.audit.values import EMPTY, UNKNOWN, Taint, Text, join, plain, unknown

__all__ = ["SHELLS", "SHELL_NAMES", "run_text"]

SHELL_NAMES = (
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "ash",
    "fish",
    "csh",
    "tcsh",
    "mksh",
    "rbash",
    "pdksh",
    "yash",
    "elvish",
    "nu",
    "osh",
    "xonsh",
)
_STDIN = frozenset({"-", "/dev/stdin", "/proc/self/fd/0", "/dev/fd/0"})
_SETUP = re.compile(
    r"\b(ssh-agent|direnv|pyenv|rbenv|nodenv|jenv|goenv|brew|dircolors|starship|zoxide|conda|mamba|micromamba|opam|luarocks|minikube|"
    r"fnm|nvm|mise|asdf|thefuck|kubectl|helm|completion|docker-machine|resize|lesspipe|gh|register-python-argcomplete|pkg-config)\b"
)


def run_text(
    judge: Finder, text: Text | None, language: str, positional: Sequence[Text] | None = None
) -> Text | None:
    """Judge that a shell (or, by `language`, another interpreter) runs a text."""
    if text is None:
        return None
    if Taint.DECODED in text.taint:
        judge.find("run-decoded")
    if Taint.NET in text.taint and not text.known:
        judge.find("run-download")
    if language != "shell":
        judge_program(judge, text, language)
        if text.text.strip() == UNKNOWN and not text.taint & {Taint.NET, Taint.DECODED}:
            judge.find("run-variable" if Taint.FILE in text.taint else "run-unseen")
        return None
    if text.text.lstrip().startswith(UNKNOWN) and not text.taint & {Taint.NET, Taint.DECODED}:
        judge.find("run-unseen")
    return judge.code(text.text, None, positional) if text.text.strip() != UNKNOWN else None


def _argument(judge: Finder, text: Text, stdin: Text | None, positional: Sequence[Text]) -> Text | None:
    """As run_text, for a text in the arguments: what is not known of it has been seen by whoever wrote it."""
    if Taint.DECODED in text.taint:
        judge.find("run-decoded")
    if Taint.NET in text.taint and text.text.lstrip().startswith(UNKNOWN):
        judge.find("run-download")
    elif text.text.strip() == UNKNOWN and not text.taint & {Taint.DECODED, Taint.COMMAND}:
        judge.find("run-variable")
    elif text.taint & {Taint.PROGRAM} and text.text.lstrip().startswith(UNKNOWN):
        judge.find("run-unseen")
    return judge.code(text.text, stdin, positional) if text.text.strip() != UNKNOWN else None


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
        return _argument(judge, rest[0], stdin, rest[2:]) if len(rest) < 2 else _with_zero(judge, rest, stdin)
    if not rest or "s" in options.flags or rest[0].text in _STDIN:
        return run_text(judge, stdin, "shell", rest)
    return _script(judge, rest[0], "shell", rest[1:])


def _with_zero(judge: Finder, rest: Sequence[Text], stdin: Text | None) -> Text | None:
    before = judge.vars.get("0")
    judge.vars["0"] = [rest[1]]
    out = _argument(judge, rest[0], stdin, rest[2:])
    judge.vars.pop("0")
    if before is not None:
        judge.vars["0"] = before
    return out


def _script(judge: Finder, path: Text, language: str, positional: Sequence[Text] = ()) -> Text | None:
    place = resolve(path.text, judge.cwd)
    text = judge.files.get(place or "")
    if text is None:
        return None
    if Taint.NET in text.taint and not (place or "").startswith("/dev/fd/"):
        judge.find("saved-download")
        return None
    if (
        (place or "").startswith("/dev/fd/")
        and not text.known
        and not text.taint & {Taint.NET, Taint.DECODED}
    ):
        if language != "shell":
            judge_program(judge, text, language)
        return None
    return run_text(judge, text, language, positional)


def run_script(judge: Finder, path: Text, language: str, args: Sequence[Text] = ()) -> Text | None:
    """An interpreter is given the path of a program."""
    return _script(judge, path, language, args)


def _eval(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text | None:
    return _argument(judge, join(args or [EMPTY], " "), stdin, judge.positional or ())


def _source(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text | None:
    operands = split_options(args, stop=True).operands
    if not operands:
        return None
    if operands[0].text in _STDIN:
        return run_text(judge, stdin, "shell")
    return _script(judge, operands[0], "shell", operands[1:])


def _xargs(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text | None:
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


def _parallel(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text | None:
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
                _argument(judge, value, stdin, ())
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
    "eval": _eval, "source": _source, ".": _source, "xargs": _xargs, "parallel": _parallel, "ssh": _remote,
    "su": _flag_code("c command", "s g G shell", "privilege"), "script": _flag_code("c command", "B E I O T"),
    "watch": _flag_code("", "n d interval", bare=True), "tmux": _flag_code("", "L S f t s n c x y", bare=False),
    "sg": _flag_code("c", rule="privilege"), "flock": _flock, "trap": _trap, "alias": _alias, "at": _stdin_later, "batch": _stdin_later,
    "zip": _flag_code("TT unzip-command", "b t n i x"),
    "cd": _cd, "pushd": _cd, "set": _set, "sshpass": _flag_code("", "p f"),
}  # fmt: skip
