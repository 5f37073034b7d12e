"""A command as bash reads it: lists, pipelines, compound commands, redirects, here-documents.

Lenient: what bash would refuse is read as far as it goes and marked, since bash runs the lines before a fault.
Linear, and bounded by the scanner's budget: bash's own grammar for tree-sitter takes seconds on 10 KB of brackets.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from typing_extensions import override

from skerry_runner.audit.compound import CompoundParser
from skerry_runner.audit.scan import Budget
from skerry_runner.audit.syntax import (
    Assign,
    Command,
    Item,
    Literal,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Word,
)

__all__ = ["Parsed", "parse"]

_REDIRECT = re.compile(r"(\d{1,4}|\{[A-Za-z_]\w*\})?(<<<|<<-|<<|<>|<&|>&|>>|>\||&>>|&>|<(?!\()|>(?!\())")
_FD_PROCESS = re.compile(r"\d{1,4}[<>]\(")
_ASSIGN = re.compile(r"([A-Za-z_]\w*)(?:\[([^\]\n]{0,200})\])?(\+?)=")
_BLANK = re.compile(r"(?:[ \t\r]|\\\n)+")
_KEYWORD = re.compile(
    r"(?:if|then|elif|else|fi|while|until|do|done|for|select|case|esac|function|time|coproc|\[\[|[{}!])(?=[\s;&|<>()]|$)"
)
_FUNCTION = re.compile(r"([^\s;&|<>()$`\"'\\=]+)[ \t]*\([ \t]*\)")
_NAME = re.compile(r"[^\s;&|<>()]+")
_DECLARING = frozenset({"declare", "export", "local", "readonly", "typeset"})
_CLOSING = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})


@dataclass(frozen=True)
class Parsed:
    """`broken`: something is not closed, or stands where it can't."""

    script: Script
    broken: bool


def parse(text: str, budget: Budget, depth: int = 0) -> Parsed:
    """Read a whole text.

    Raises:
        TooComplexError: the budget, or the depth, does not do.
    """
    parser = _Parser(text, budget, depth)
    script = parser.script(lambda: False)
    return Parsed(script, parser.broken)


class _Parser(CompoundParser):
    @override
    def script(self, until: Callable[[], bool], words: frozenset[str] = frozenset()) -> Script:
        """A list of pipelines up to where `until` holds, or to one of the reserved words."""
        items: list[Item] = []
        while True:
            self._separators()
            if self.pos >= self.end or until() or self._keyword() in words:
                return tuple(items)
            before = self.pos
            self.budget.take()
            pipeline = self._pipeline(until)
            self._blanks()
            background = self.text.startswith("&", self.pos) and not self.text.startswith("&&", self.pos)
            if pipeline.commands:
                items.append(Item(pipeline, background))
            if self.pos == before:
                # A bracket or word that closes nothing.
                self.broken = True
                keyword = self._keyword()
                self.pos += len(keyword) if keyword else 1

    @override
    def _blanks(self) -> None:
        if match := _BLANK.match(self.text, self.pos):
            self.pos = match.end()

    @override
    def _separators(self) -> None:
        while self.pos < self.end:
            self._blanks()
            char = self.text[self.pos : self.pos + 1]
            if char == "\n":
                self.pos += 1
                self._bodies()
            elif char == "#":
                self._comment()
            elif char in {";", "&", "|"} and not self.text.startswith("&>", self.pos):
                if self.text.startswith((";;", ";&"), self.pos):
                    return
                self.pos += 1
            else:
                return

    def _comment(self) -> None:
        close = self.text.find("\n", self.pos)
        self.pos = self.end if close < 0 else close

    @override
    def _keyword(self) -> str:
        match = _KEYWORD.match(self.text, self.pos)
        return match.group() if match else ""

    def _pipeline(self, until: Callable[[], bool]) -> Pipeline:
        commands: list[Command] = []
        while True:
            while self._keyword() in {"!", "time", "coproc"}:
                self.pos += len(self._keyword())
                self._blanks()
                if self.text.startswith("-p", self.pos):
                    self.pos += 2
                    self._blanks()
            command = self._command(until)
            if command is not None:
                commands.append(command)
            self._blanks()
            if self.text.startswith("|", self.pos) and not self.text.startswith("||", self.pos):
                self.pos += 2 if self.text.startswith("|&", self.pos) else 1
                while self.pos < self.end and self.text[self.pos] in " \t\r\n":
                    newline = self.text[self.pos] == "\n"
                    self.pos += 1
                    if newline:
                        self._bodies()
                continue
            return Pipeline(tuple(commands))

    @override
    def _command(self, until: Callable[[], bool]) -> Command | None:
        self._blanks()
        if self.pos >= self.end or until():
            return None
        if self.text[self.pos] == "(":
            return self._subshell()
        keyword = self._keyword()
        if keyword in _CLOSING:
            return None
        if keyword:
            return self._compound(keyword)
        if match := _FUNCTION.match(self.text, self.pos):
            self.pos = match.end()
            return self._function(match.group(1), until)
        return self._simple()

    def _simple(self) -> Command:
        command = Simple()
        assigning = True
        while True:
            self._blanks()
            if self.pos >= self.end or self.text[self.pos] == "#":
                if self.pos < self.end:
                    self._comment()
                return command
            if (redirect := self._redirect()) is not None:
                command.redirects.append(redirect)
                continue
            if assigning and (match := _ASSIGN.match(self.text, self.pos)):
                command.assigns += [*self._index(match.group(2) or ""), self._assign(match)]
                continue
            word = self.word()
            if not word:
                return command
            if not command.words:
                first = word[0]
                declares = len(word) == 1 and isinstance(first, Literal) and first.text in _DECLARING
                assigning = declares
            command.words.append(word)

    def _index(self, text: str) -> list[Assign]:
        """What the index of an element runs to be known."""
        if "$" not in text and "`" not in text:
            return []
        inner = _Parser(text, self.budget, self.depth)
        return [Assign("_", (inner.quoted_text(),))]

    def _assign(self, match: re.Match[str]) -> Assign:
        self.pos = match.end()
        name, append = match.group(1), bool(match.group(3))
        if not self.text.startswith("(", self.pos):
            return Assign(name, (self.word(),), append=append)
        self.pos += 1
        values: list[Word] = []
        while True:
            self._separators()
            word = self.word()
            if not word:
                break
            values.append(word)
        self.broken |= not self.text.startswith(")", self.pos)
        self.pos = min(self.pos + 1, self.end)
        return Assign(name, tuple(values), array=True, append=append)

    @override
    def _redirect(self) -> Redirect | None:
        match = _REDIRECT.match(self.text, self.pos)
        if match is None or _FD_PROCESS.match(self.text, self.pos):
            return None
        self.budget.take()
        self.pos = match.end()
        op = match.group(2)
        self._blanks()
        start = self.pos
        target = self.word()
        redirect = Redirect(op, target, match.group(1) or "")
        if op in {"<<", "<<-"}:
            raw = self.text[start : self.pos]
            quoted = any(char in raw for char in "'\"\\")
            delimiter = re.sub(r"['\"\\]", "", raw.removeprefix("$"))
            self.heredocs.append((redirect, delimiter, op == "<<-", quoted))
        return redirect

    def _bodies(self) -> None:
        """Read the here-documents that the line just ended has announced."""
        waiting, self.heredocs = self.heredocs, []
        for redirect, delimiter, strip, quoted in waiting:
            self.budget.take()
            lines: list[str] = []
            while True:
                if self.pos >= self.end:
                    break
                close = self.text.find("\n", self.pos)
                close = self.end if close < 0 else close
                line = self.text[self.pos : close]
                self.pos = min(close + 1, self.end)
                line = line.lstrip("\t") if strip else line
                if line.rstrip("\r") == delimiter:
                    break
                lines.append(line)
            body = "".join(line + "\n" for line in lines)
            if quoted:
                redirect.body = (Literal(body, quoted=True),)
            else:
                inner = _Parser(body, self.budget, self.depth)
                redirect.body = inner.quoted_text()
