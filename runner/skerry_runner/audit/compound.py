"""Compound commands of the shell: groups, conditions, loops, cases, functions, tests."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable

from typing_extensions import override

from skerry_runner.audit.scan import WordScanner
from skerry_runner.audit.syntax import Command, Compound, Item, Literal, Pipeline, Redirect, Script, Simple

__all__ = ["CompoundParser"]

_NAME = re.compile(r"[^\s;&|<>()]+")


class CompoundParser(WordScanner):
    """Reads them at `pos`, the opening word included."""

    last = ""
    """The reserved word that ended the last part."""

    @override
    @abstractmethod
    def script(self, until: Callable[[], bool], words: frozenset[str] = frozenset()) -> Script: ...

    @abstractmethod
    def _command(self, until: Callable[[], bool]) -> Command | None: ...

    @abstractmethod
    def _blanks(self) -> None: ...

    @abstractmethod
    def _separators(self) -> None: ...

    @abstractmethod
    def _keyword(self) -> str: ...

    @abstractmethod
    def _redirect(self) -> Redirect | None: ...

    def _subshell(self) -> Command:
        if self.text.startswith("((", self.pos) and self.pos not in self._no_arithmetic:
            start = self.pos
            self.pos += 2
            found = self._arithmetic(start)
            if found is not None:
                return self._redirected(Compound("group", words=[(found,)]))
        self.pos += 1
        return self._redirected(Compound("subshell", body=self._nested(")")))

    def _function(self, name: str, until: Callable[[], bool]) -> Command:
        self._separators()
        self.deeper()
        body = self._command(until)
        self.depth -= 1
        items = () if body is None else (Item(Pipeline((body,))),)
        return Compound("function", body=items, name=name)

    def _part(self, *words: str) -> Script:
        self.deeper()
        script = self.script(lambda: False, frozenset(words))
        self.depth -= 1
        found = self._keyword()
        if found in words:
            self.pos += len(found)
        else:
            self.broken = True
        self.last = found
        return script

    def _compound(self, keyword: str) -> Command:  # noqa: PLR0911 - one for each keyword
        self.pos += len(keyword)
        if keyword == "{":
            return self._redirected(Compound("group", body=self._part("}")))
        if keyword == "if":
            body: Script = ()
            self.last = ""
            while self.last != "fi" and self.pos < self.end:
                body += self._part("then", "elif", "else", "fi")
            return self._redirected(Compound("if", body=body))
        if keyword in {"while", "until"}:
            return self._redirected(
                Compound("while", head=self._part("do"), body=self._part("done"), name=keyword)
            )
        if keyword in {"for", "select"}:
            return self._for()
        if keyword == "case":
            return self._case()
        if keyword == "[[":
            return self._test()
        self._blanks()
        match = _NAME.match(self.text, self.pos)
        name = match.group() if match else ""
        self.pos = match.end() if match else self.pos
        if match := re.compile(r"[ \t]*\([ \t]*\)").match(self.text, self.pos):
            self.pos = match.end()
        return self._function(name, lambda: False)

    def _for(self) -> Command:
        self._blanks()
        loop = Compound("for")
        if self.text.startswith("((", self.pos):
            start = self.pos
            self.pos += 2
            found = self._arithmetic(start)
            self.pos = self.end if found is None else self.pos
            endless = re.match(r"\(\([^;]*;\s*(1|true)?\s*;", self.text[start : self.pos])
            loop.name = ";;" if endless else ""
        elif match := _NAME.match(self.text, self.pos):
            loop.name, self.pos = match.group(), match.end()
            self._separators()
            if self.text.startswith("in", self.pos):
                self.pos += 2
                self._blanks()
                while word := self.word():
                    loop.words.append(word)
                    self._blanks()
        self._separators()
        opened = self._keyword()
        if opened in {"do", "{"}:
            self.pos += len(opened)
            loop.body = self._part("done" if opened == "do" else "}")
        else:
            self.broken = True
        return self._redirected(loop)

    def _case(self) -> Command:
        self._blanks()
        words = [self.word()]
        self._separators()
        self.pos += 2 if self.text.startswith("in", self.pos) else 0
        body: Script = ()
        self.deeper()
        while self.pos < self.end:
            self._separators()
            while self.text.startswith((";;", ";&"), self.pos):
                self.pos += 3 if self.text.startswith(";;&", self.pos) else 2
                self._separators()
            if self._keyword() == "esac":
                self.pos += 4
                break
            close = self.text.find(")", self.pos + self.text.startswith("(", self.pos))
            if close < 0:
                self.broken, self.pos = True, self.end
                break
            self.pos = close + 1
            body += self.script(lambda: self.text.startswith((";;", ";&"), self.pos), frozenset({"esac"}))
        else:
            self.broken = True
        self.depth -= 1
        return self._redirected(Compound("case", body=body, words=words))

    def _test(self) -> Command:
        found = Simple(words=[(Literal("[[", quoted=False),)])
        while self.pos < self.end and not self.text.startswith("]]", self.pos):
            self.budget.take()
            word = self.word()
            if word:
                found.words.append(word)
            else:
                self.pos += 1
        self.broken |= self.pos >= self.end
        self.pos = min(self.pos + 2, self.end)
        return found

    def _redirected(self, command: Compound) -> Compound:
        self._blanks()
        while (redirect := self._redirect()) is not None:
            command.redirects.append(redirect)
            self._blanks()
        return command
