"""Interpreters: where on their command line code stands, and which input they run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skerry_runner.audit.finder import Finder, Handler
from skerry_runner.audit.options import split_options
from skerry_runner.audit.programs import judge_program
from skerry_runner.audit.running import run_text, script
from skerry_runner.audit.values import Taint, Text, unknown

__all__ = ["INTERPRETERS", "by_pattern"]

_CODE = {
    "python": "c", "pypy": "c", "perl": "e E", "ruby": "e", "node": "e p eval print pe", "nodejs": "e p eval print", "bun": "e eval print p", "deno": "",
    "php": "r R B E", "lua": "e", "luajit": "e", "Rscript": "e", "julia": "e E", "osascript": "e", "pwsh": "c Command command", "powershell": "c Command command",
    "tclsh": "", "expect": "c", "groovy": "e", "scala": "e", "jshell": "", "guile": "c", "elixir": "e", "erl": "eval", "gawk": "", "irb": "", "ghci": "e", "R": "e",
}  # fmt: skip
_VALUED = {
    "python": "m W X",
    "pypy": "m W X",
    "perl": "I M m x C F",
    "ruby": "r I C F",
    "node": "r require",
    "nodejs": "r require",
    "php": "d f t S",
}
_VERSION = re.compile(r"(python|pypy|perl|ruby|php|lua|node|gawk|tclsh|guile)[-\d.]*(w|dbg)?")
_PACKAGES = frozenset({"pip", "ensurepip"})


def _language(name: str) -> str:
    match = _VERSION.fullmatch(name)
    return match.group(1) if match else name


def _interpreter(judge: Finder, name: str, args: Sequence[Text], stdin: Text | None) -> Text | None:
    language = _language(name)
    codes = set(_CODE.get(language, "").split())
    options = split_options(args, codes | set(_VALUED.get(language, "").split()), stop=True)
    words = [arg.text for arg in args]
    given = [value for flag, value in options.values if flag in codes]
    if language in {"perl", "ruby"} and any(re.fullmatch(r"-[a-z0-9]*i.*", word) for word in words):
        for operand in options.operands:
            judge.write(operand)
    if language == "deno" and words[:1] == ["eval"]:
        given = list(args[1:2])
    module = options.value("m") if language in {"python", "pypy"} else None
    if module is not None:
        _module(judge, module, stdin, args)
    elif given:
        for code in given:
            judge_program(judge, code, language)
    elif options.flags & {"V", "version", "h", "help", "v"} and not options.operands:
        return None
    elif not options.operands or options.operands[0].text in {"-", "/dev/stdin"}:
        run_text(judge, stdin, language)
    else:
        script(judge, options.operands[0], language)
    return unknown(Taint.PROGRAM, also=stdin)


def _module(judge: Finder, module: Text, stdin: Text | None, args: Sequence[Text]) -> None:
    after = args[
        next(i for i, arg in enumerate(args) if arg.text.endswith("m") or arg.text == module.text) + 1 :
    ]
    rest = [arg for arg in after if arg is not module]
    if module.text in _PACKAGES:
        judge.call([Text("pip"), *rest], stdin)


def _awk(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text | None:
    options = split_options(args, {"F", "v", "f", "e", "i", "source", "assign", "file"}, stop=True)
    programs = [value for flag, value in options.values if flag in {"e", "source"}]
    if not programs and options.value("f", "file") is None:
        programs = options.operands[:1]
    for program in programs:
        judge_program(judge, program, "awk")
        if re.search(
            r"system\s*\(\s*[$\w]+\s*\)|\$\w+\s*\|\s*getline|print[^|]{0,200}\|\s*\"(/bin/)?(ba|z|da)?sh\"",
            program.text,
        ):
            judge.find("run-unseen")
        for match in re.finditer(r"print[^>\"]{0,200}>+\s*\"(/[^\"]+)\"", program.text):
            judge.write(Text(match.group(1)))
    return None


INTERPRETERS: dict[str, Handler] = {
    **dict.fromkeys(_CODE, _interpreter), **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    "python2": _interpreter, "python3": _interpreter,
}  # fmt: skip


def by_pattern(name: str) -> Handler | None:
    """The handler of a name with a version in it."""
    if _VERSION.fullmatch(name):
        return _awk if name.startswith("gawk") else _interpreter
    if name.startswith(("pip3.", "pip2")):
        from skerry_runner.audit.system import SYSTEM

        return SYSTEM["pip"]
    if name.startswith("mkfs."):
        from skerry_runner.audit.system import SYSTEM

        return SYSTEM["mkfs"]
    return None
