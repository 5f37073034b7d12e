"""Expansion of words as bash does it, as far as values are known."""

from __future__ import annotations

import re
from abc import abstractmethod
from fnmatch import fnmatchcase

from skerry_runner.audit.braces import expand_braces
from skerry_runner.audit.escapes import ansi
from skerry_runner.audit.paths import HOME, WORKSPACE, Place
from skerry_runner.audit.scan import Budget
from skerry_runner.audit.syntax import (
    Arithmetic,
    Literal,
    Parameter,
    Part,
    Process,
    Script,
    Substitution,
    Word,
)
from skerry_runner.audit.values import EMPTY, UNKNOWN, Text, join, plain, unknown

__all__ = ["Expander"]

_GLOB = re.compile(r"[*?\[]|[@!+]\(")
_KNOWN = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "SHELL": "/bin/bash", "BASH": "/bin/bash",
    "0": "bash", "?": "0", "-": "hB", "UID": "0", "EUID": "0", "IFS": " \t\n", "OSTYPE": "linux-gnu",
}  # fmt: skip
_STRIP_MAX = 128


class _Fields:
    """Fields under construction: quoted pieces stick, unquoted ones split."""

    def __init__(self) -> None:
        self.done: list[Text] = []
        self._pieces: list[Text] | None = None

    def stick(self, piece: Text) -> None:
        self._pieces = (
            [*(self._pieces or ()), piece]
            if self._pieces is None or len(self._pieces) < 2000
            else self._pieces
        )

    def cut(self) -> None:
        if self._pieces is not None:
            self.done.append(join(self._pieces))
        self._pieces = None


class Expander:
    """Variables, working directory and the files that the command itself has written."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.vars: dict[str, list[Text]] = {}
        self.positional: list[Text] | None = None
        self.cwd: Place = WORKSPACE
        self.files: dict[str, Text] = {}
        self._fds = 63
        self.input: Text | None = None
        """What a substitution in the command at hand would read."""

    @abstractmethod
    def output(self, script: Script, stdin: Text | None = None) -> Text:
        """Judge a script, and say what it prints."""

    def fields(self, word: Word) -> list[Text]:
        """The arguments that a word becomes; may be none."""
        return [field for one in expand_braces(word) for field in self._fields(one)]

    def text(self, word: Word) -> Text:
        """A word where nothing is split: an assignment, a here-string."""
        return join([self._value(part) for part in self._tilde(word)] or [EMPTY])

    def _fields(self, word: Word) -> list[Text]:
        fields = _Fields()
        for part in self._tilde(word):
            self.budget.take()
            if isinstance(part, Literal):
                fields.stick(Text(part.text, not part.quoted and bool(_GLOB.search(part.text))))
            elif isinstance(part, Parameter) and part.quoted and (part.name == "@" or part.index == "@"):
                self._each(fields, self.parameter(part))
            elif isinstance(part, Parameter | Substitution) and not part.quoted:
                self._split(fields, part)
            else:
                fields.stick(self._value(part))
        fields.cut()
        return fields.done

    @staticmethod
    def _each(fields: _Fields, values: list[Text]) -> None:
        for index, value in enumerate(values):
            if index:
                fields.cut()
            fields.stick(value)

    def _split(self, fields: _Fields, part: Parameter | Substitution) -> None:
        values = self.parameter(part) if isinstance(part, Parameter) else [self._printed(part)]
        separators = self.vars["IFS"][0].text if self.vars.get("IFS") else " \t\n"
        for index, value in enumerate(values):
            if index:
                fields.cut()
            pieces = re.split(f"[{re.escape(separators)}]+", value.text) if separators else [value.text]
            for number, piece in enumerate(pieces[:500]):
                if number:
                    fields.cut()
                if piece:
                    fields.stick(Text(piece, bool(_GLOB.search(piece)), value.taint))

    @staticmethod
    def _tilde(word: Word) -> Word:
        first = word[0] if word else None
        if not isinstance(first, Literal) or first.quoted or not first.text.startswith("~"):
            return word
        name, slash, rest = first.text[1:].partition("/")
        if not slash and len(word) > 1:
            return word
        home = {"": HOME, "root": "/root", "+": ".", "-": "."}.get(name, f"/home/{name}")
        return (Literal(home, quoted=True), Literal(slash + rest, quoted=False), *word[1:])

    def _printed(self, part: Substitution) -> Text:
        out = self.output(part.script, self.input)
        return Text(out.text.rstrip("\n"), out.glob, out.taint)

    def _value(self, part: Part) -> Text:
        if isinstance(part, Literal):
            return plain(part.text)
        if isinstance(part, Parameter):
            return join(self.parameter(part) or [EMPTY], " ")
        if isinstance(part, Substitution):
            return self._printed(part)
        if isinstance(part, Process):
            return self._process(part)
        return self._number(part)

    def _number(self, part: Arithmetic) -> Text:
        for inner in part.parts:
            self._value(inner)
        return plain("0")

    def _process(self, part: Process) -> Text:
        self._fds -= 1
        path = f"/dev/fd/{self._fds}"
        if part.direction == "<":
            self.files[path] = self.output(part.script)
        else:
            self.output(part.script, unknown())
        return plain(path)

    def parameter(self, part: Parameter) -> list[Text]:
        """The values of a parameter expansion: one, or those of an array."""
        values = self._stored(part)
        if part.prefix == "#":
            return [plain("0")]
        if part.prefix == "!" and values and values[0].known:
            values = self._stored(Parameter(values[0].text, part.quoted))
        arg = join([self._value(one) for one in part.arg] or [EMPTY]) if part.op else EMPTY
        if not part.op:
            return values
        known = bool(values) and values[0].text not in {"", UNKNOWN}
        match part.op:
            case ":-" | "-" | ":=" | "=":
                if "=" in part.op and not known:
                    self.vars[part.name] = [arg]
                return values if known else [arg]
            case ":+" | "+":
                return [arg]
            case ":?" | "?":
                return values
            case _:
                self.budget.take(30)
                return [_transformed(value, part.op, arg) for value in values[:20]]

    def _stored(self, part: Parameter) -> list[Text]:  # noqa: PLR0911 - a table of kinds of names
        name = part.name
        if name in {"@", "*"}:
            return list(self.positional) if self.positional is not None else [unknown()]
        if name == "#":
            return [plain(str(len(self.positional or ())))]
        if name.isdigit() and name != "0" and self.positional is not None:
            at = int(name) - 1
            return [self.positional[at]] if at < len(self.positional) else []
        if name in self.vars:
            values = self.vars[name]
            if part.index and part.index not in {"@", "*"}:
                at = int(part.index) if part.index.lstrip("-").isdigit() else 0
                return [values[at]] if -len(values) <= at < len(values) else [unknown()]
            return values if part.index else values[:1]
        if name == "HOME":
            return [plain(HOME)]
        if name == "PWD":
            return [plain(self.cwd) if self.cwd else unknown()]
        return [plain(_KNOWN[name])] if name in _KNOWN else [unknown()]


def _transformed(value: Text, op: str, arg: Text) -> Text:  # noqa: PLR0911 - a table of operators
    """`${x:1:2}`, `${x#y}`, `${x/y/z}`, `${x^^}` where everything is known."""
    if not value.known or not arg.known:
        return Text(UNKNOWN, taint=value.taint | arg.taint)
    text = value.text
    match op:
        case ":":
            return Text(_slice(text, arg.text), taint=value.taint)
        case "^" | "^^":
            return Text(text.upper() if op == "^^" else text[:1].upper() + text[1:], taint=value.taint)
        case "," | ",,":
            return Text(text.lower() if op == ",," else text[:1].lower() + text[1:], taint=value.taint)
        case "/" | "//":
            old, _, new = arg.text.partition("/")
            return Text(_replaced(text, old, new, every=op == "//"), taint=value.taint)
        case "@":
            return Text(ansi(text) if arg.text == "E" else text, taint=value.taint)
        case _:
            return Text(_stripped(text, op, arg.text), taint=value.taint)


def _slice(text: str, spec: str) -> str:
    start, _, length = spec.strip().partition(":")
    try:
        first = int(start.strip(" ()") or 0)
        count = int(length) if length.strip() else None
    except ValueError:
        return UNKNOWN
    rest = text[first:]
    return rest if count is None else rest[:count]


def _replaced(text: str, old: str, new: str, *, every: bool) -> str:
    if not old:
        return text
    if _GLOB.search(old):
        if len(text) > _STRIP_MAX or old.count("*") > 1:
            return UNKNOWN
        pattern = (
            "".join({"*": ".*", "?": "."}.get(char, re.escape(char)) for char in old)
            if "[" not in old
            else None
        )
        if pattern is None:
            pattern = _classes(old)
        try:
            return re.sub(pattern, lambda _: new, text, count=0 if every else 1)
        except re.error:
            return UNKNOWN
    return text.replace(old, new, -1 if every else 1)


def _classes(glob: str) -> str:
    return re.sub(r"\[!", "[^", glob.replace("*", ".*"))


def _stripped(text: str, op: str, pattern: str) -> str:
    if len(text) > _STRIP_MAX:
        return UNKNOWN
    ends = range(len(text) + 1)
    if op[0] == "#":
        order = ends if op == "#" else reversed(ends)
        return next((text[end:] for end in order if fnmatchcase(text[:end], pattern)), text)
    starts = reversed(ends) if op == "%" else ends
    return next((text[:start] for start in starts if fnmatchcase(text[start:], pattern)), text)
