"""Walks a command as a shell would, without running it: who gets which text, what is run, which rules it breaks."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence

from typing_extensions import override

from skerry_runner.audit import handlers
from skerry_runner.audit.assignments import check_assignment
from skerry_runner.audit.expand import Expander
from skerry_runner.audit.handlers import Finder, default_output
from skerry_runner.audit.parse import parse
from skerry_runner.audit.paths import (
    NAME_MAX,
    is_device,
    is_socket,
    is_startup,
    is_system,
    resolve,
    secret_rule,
)
from skerry_runner.audit.scan import Budget, TooComplexError
from skerry_runner.audit.shapes import is_forever, looks_like_rm, multiplies
from skerry_runner.audit.syntax import Command, Compound, Pipeline, Redirect, Script, Simple
from skerry_runner.audit.values import EMPTY, UNKNOWN, Taint, Text, join, plain, unknown

__all__ = ["Judge"]

NESTED_MAX = 8
LOOP_MAX = 4
OTHERS_MAX = 3
CALLS_MAX = 3
_RUNS = frozenset({Taint.NET, Taint.DECODED, Taint.PROGRAM})
_INDEXED = re.compile(r"\[[^\]]*\]=(.*)", re.DOTALL)
_QUOTES = str.maketrans("", "", "'\"`\\")


class Judge(Expander, Finder):
    """One per command; `found` are the ids of the rules that it breaks, in order."""

    def __init__(self, budget: Budget) -> None:
        super().__init__(budget)
        self.found: dict[str, None] = {}
        self.functions: dict[str, Script] = {}
        self.descriptors: dict[str, Text] = {}
        self._level = 0
        self._calls: list[str] = []
        self.anywhere = False
        """Judge every word as if a command began there: for a text whose quotes can't be trusted."""

    @override
    def find(self, rule: str) -> None:
        self.found[rule] = None

    @override
    def code(self, text: str, stdin: Text | None = None, positional: Sequence[Text] | None = None) -> Text:
        """Judge a text that a shell is given to run."""
        if self._level >= NESTED_MAX:
            raise TooComplexError
        before = self.positional
        if positional is not None:
            self.positional = list(positional)
        self._level += 1
        parsed = parse(text, self.budget)
        out = self.output(parsed.script, stdin)
        if parsed.broken:
            self._whole(text)
        self._level -= 1
        self.positional = before
        return out

    def _whole(self, text: str) -> None:
        """What is not closed hides where words begin: the text without its quotes is judged at every word."""
        was, self.anywhere = self.anywhere, True
        self.output(parse(text.translate(_QUOTES), self.budget).script)
        self.anywhere = was

    @override
    def output(self, script: Script, stdin: Text | None = None) -> Text:
        return join([self._pipeline(item.pipeline, stdin) for item in script] or [EMPTY])

    def _pipeline(self, pipeline: Pipeline, stdin: Text | None) -> Text:
        out: Text | None = stdin
        cwd = self.cwd
        for command in pipeline.commands:
            out = self._command(command, out)
        if len(pipeline.commands) > 1:
            self.cwd = cwd
        return out or EMPTY

    def _command(self, command: Command, stdin: Text | None) -> Text:
        self.budget.take(2)
        if isinstance(command, Simple):
            return self._simple(command, stdin)
        stdin, sinks = self._redirects(command.redirects, stdin)
        return self._sink(sinks, self._compound(command, stdin))

    def _compound(self, command: Compound, stdin: Text | None) -> Text:
        cwd = self.cwd
        match command.kind:
            case "function":
                self.functions[command.name] = command.body
                if multiplies(command.name, command.body):
                    self.find("fork-bomb")
                self._calls.append(command.name)
                self.output(command.body)
                self._calls.pop()
                return EMPTY
            case "for":
                return self._for(command, stdin)
            case "while":
                if is_forever(command) and any(item.background for item in command.body):
                    self.find("fork-bomb")
                self.output(command.head, stdin)
            case _:
                pass
        for word in command.words:
            self.fields(word)
        out = self.output(command.body, stdin)
        if command.kind == "subshell":
            self.cwd = cwd
        return out

    def _for(self, command: Compound, stdin: Text | None) -> Text:
        if command.name == ";;" and any(item.background for item in command.body):
            self.find("fork-bomb")
        values = [field for word in command.words for field in self.fields(word)] or [unknown(Taint.FORM)]
        # Paths of their own, whole commands, and of the others the first: nested loops multiply.
        rooted = [value for value in values[:200] if value.text.startswith(("/", "~"))]
        others = [value for value in values[:200] if not value.text.startswith(("/", "~"))]
        others.sort(key=lambda value: " " not in value.text)
        chosen = others[:OTHERS_MAX] + rooted[:LOOP_MAX]
        out = EMPTY
        for value in chosen:
            self.vars[command.name] = [value]
            out = self.output(command.body, stdin)
        return out

    def _simple(self, command: Simple, stdin: Text | None) -> Text:
        self.input = stdin
        before = dict(self.vars) if command.assigns and command.words else None
        for assign in command.assigns:
            values = (
                [field for word in assign.values for field in self.fields(word)]
                if assign.array
                else [self.text(assign.values[0])]
            )
            if assign.array:
                values = [
                    Text(m.group(1), taint=v.taint) if (m := _INDEXED.fullmatch(v.text)) else v
                    for v in values
                ]
            if assign.append and not assign.array:
                values = [join([*self.vars.get(assign.name, [EMPTY])[:1], *values])]
            self.vars[assign.name] = (
                [*self.vars.get(assign.name, ()), *values] if assign.append and assign.array else values
            )
            check_assignment(self, assign.name, join(values or [EMPTY], " "))
        args = [field for word in command.words for field in self.fields(word)]
        declares = bool(args) and args[0].text in {"export", "declare", "local", "readonly", "typeset"}
        stdin, sinks = self._redirects(command.redirects, stdin)
        out = self.call(args, stdin) if args else EMPTY
        if before is not None and not declares:
            self.vars = before
        return self._sink(sinks, out)

    @override
    def call(self, args: Sequence[Text], stdin: Text | None) -> Text:
        """Judge a command with its arguments; what it prints."""
        self.budget.take(3)
        if self.anywhere:
            self._everywhere(args, stdin)
        if (
            "/" in args[0].text
            and (script := self.files.get(resolve(args[0].text, self.cwd) or "")) is not None
        ):
            handlers.run_file(self, args[0], args[1:])
            return default_output(script)
        out = EMPTY
        for name in self._names(args):
            out = self._named(name, args[1:], stdin)
        return out

    def _everywhere(self, args: Sequence[Text], stdin: Text | None) -> None:
        self.anywhere = False
        for at in range(1, min(len(args), 64)):
            name = args[at].text.rsplit("/", 1)[-1]
            if name in handlers.HANDLERS and name not in handlers.HARMLESS:
                self.budget.take(10)
                self._named(name, args[at + 1 :], stdin)
        self.anywhere = True

    def _names(self, args: Sequence[Text]) -> list[str]:
        """The names that the first word may be; one, unless wildcards stand in it."""
        head = args[0]
        if not head.known:
            if head.taint & _RUNS:
                self.find(
                    "run-decoded"
                    if Taint.DECODED in head.taint
                    else "run-download"
                    if Taint.NET in head.taint
                    else "run-unseen"
                )
            elif head.text == UNKNOWN:
                if Taint.FILE in head.taint:
                    self.find("run-variable")
                return ["rm"] if len(args) > 1 and looks_like_rm(args[1:]) else [UNKNOWN]
        name = head.text.rstrip("\r").rsplit("/", 1)[-1]
        if head.glob and head.text not in {"[", "[["} and len(name) <= NAME_MAX:
            self.budget.take(20)
            found = fnmatch.filter(handlers.NAMES, name)
            return found[:8] or [name]
        return [name]

    def _named(self, name: str, args: Sequence[Text], stdin: Text | None) -> Text:
        if name in self.functions and self._calls.count(name) < 1 and len(self._calls) < CALLS_MAX:
            self._calls.append(name)
            before, self.positional = self.positional, list(args)
            out = self.output(self.functions[name], stdin)
            self.positional = before
            self._calls.pop()
            return out
        handler = handlers.HANDLERS.get(name) or handlers.by_pattern(name)
        if name not in handlers.DATA_ONLY:
            handlers.check_operands(self, name, args)
        if handler is None:
            return default_output(stdin)
        printed = handler(self, name, args, stdin)
        return default_output(stdin) if printed is None else printed

    def _redirects(
        self, redirects: Sequence[Redirect], stdin: Text | None
    ) -> tuple[Text | None, list[tuple[str, bool]]]:
        sinks: list[tuple[str, bool]] = []
        for redirect in redirects:
            if redirect.op in {"<<", "<<-"}:
                stdin = self._fed(redirect, self.text(redirect.body or ()), stdin)
                continue
            if redirect.op == "<<<":
                stdin = self._fed(redirect, join([self.text(redirect.target), plain("\n")]), stdin)
                continue
            for target in self.fields(redirect.target) or [EMPTY]:
                if redirect.op in {"<", "<>", "<&"}:
                    stdin = self._read(target, stdin)
                if redirect.op not in {"<", "<&"} and not re.fullmatch(r"\d+-?|-", target.text):
                    place = self.write(target)
                    if redirect.fd in {"", "1"} and place:
                        sinks.append((place, redirect.op.startswith(">>") or redirect.op == "&>>"))
        return stdin, sinks

    def _fed(self, redirect: Redirect, text: Text, stdin: Text | None) -> Text | None:
        """What is now read from: a descriptor of its own waits until somebody asks for it."""
        if redirect.fd in {"", "0"}:
            return text
        self.descriptors[redirect.fd] = text
        return stdin

    def _read(self, target: Text, stdin: Text | None) -> Text | None:
        place = resolve(target.text, self.cwd)
        if place is None:
            return unknown(Taint.FILE, also=target)
        if is_socket(place):
            self.find("reverse-shell")
        if rule := secret_rule(place, glob=target.glob):
            self.find(rule)
        if re.fullmatch(r"\d+-?|-", target.text):
            return self.descriptors.get(target.text.rstrip("-"), stdin)
        return self.files.get(place) or (EMPTY if place == "/dev/null" else unknown(Taint.FILE))

    def _sink(self, sinks: Sequence[tuple[str, bool]], out: Text) -> Text:
        for place, appends in sinks:
            self.keep(place, out, appends=appends)
        return EMPTY if sinks else out

    @override
    def keep(self, place: str, out: Text, *, appends: bool = False) -> None:
        if not place.startswith("/dev/"):
            self.files[place] = join([self.files[place], out]) if appends and place in self.files else out

    @override
    def write(self, target: Text) -> str | None:
        """Judge that something writes to a path; the path, if it is known."""
        place = resolve(target.text, self.cwd)
        if place is None:
            return None
        if is_socket(place):
            self.find("reverse-shell")
        elif is_device(place):
            self.find("write-device")
        elif is_startup(place):
            self.find("write-startup")
        elif is_system(place, glob=target.glob):
            self.find("write-startup" if place.startswith(("/etc/cron", "/etc/profile")) else "write-system")
        return place
