"""Words of the shell: quotes, expansions, substitutions. One pass from left to right, with bounds."""

from __future__ import annotations

import re
from collections.abc import Callable

from skerry_runner.audit.escapes import ansi
from skerry_runner.audit.syntax import (
    Arithmetic,
    Literal,
    Parameter,
    Part,
    Process,
    Redirect,
    Script,
    Substitution,
    Word,
)

__all__ = ["Budget", "TooComplexError", "WordScanner"]

DEPTH_MAX = 32
_PLAIN = re.compile(r"[^\s;&|<>()$`\"'\\]+")
_DQ_PLAIN = re.compile(r'[^"$`\\]+')
_BRACE_PLAIN = re.compile(r"[^}\"'$`\\]+")
_ARITH_PLAIN = re.compile(r"[^()$`\\\"']+")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9]|[@*#?$!-]")
_BRACED = re.compile(r"([!#]?)([A-Za-z_]\w*|[0-9]+|[@*#?$!-])(?:\[([^\]\n]{0,200})\])?")
_OP = re.compile(r":[-=?+]|[-=?+]|##?|%%?|//?|\^\^?|,,?|@|:")
_EXTGLOB = "?*+@!"
_ANSI_QUOTED = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)


class TooComplexError(Exception):
    """More nesting or parts than an honest command has."""


class Budget:
    """What judging one command may cost in all, nested texts included."""

    def __init__(self, parts: int) -> None:
        self.left = parts

    def take(self, cost: int = 1) -> None:
        """Pay for a part.

        Raises:
            TooComplexError: nothing is left.
        """
        self.left -= cost
        if self.left < 0:
            raise TooComplexError


class WordScanner:
    """Reads words at `pos`. `broken` is set when something is not closed; scanning goes on to the end."""

    def __init__(self, text: str, budget: Budget, depth: int = 0) -> None:
        self.text, self.end, self.pos = text, len(text), 0
        self.budget, self.depth = budget, depth
        self.broken = False
        self.heredocs: list[tuple[Redirect, str, bool, bool]] = []
        self._no_arithmetic: set[int] = set()

    def script(self, until: Callable[[], bool]) -> Script:
        raise NotImplementedError

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise TooComplexError

    def word(self) -> Word:
        """The word at `pos`; empty if there is none."""
        parts: list[Part] = []
        text = self.text
        while self.pos < self.end:
            self.budget.take()
            char = text[self.pos]
            if match := _PLAIN.match(text, self.pos):
                parts.append(Literal(match.group(), quoted=False))
                self.pos = match.end()
                if self.pos < self.end and text[self.pos] == "(" and text[self.pos - 1] in _EXTGLOB:
                    parts[-1] = Literal(match.group() + self._extglob().text, quoted=False)
            elif char == "'":
                parts.append(self._single())
            elif char == '"':
                self.pos += 1
                parts += self._double() or [Literal("", quoted=True)]
            elif char == "\\":
                self._escape(parts)
            elif char == "$":
                parts.append(self._dollar(quoted=False))
            elif char == "`":
                parts.append(self._backticks(quoted=False))
            elif char in "<>" and text.startswith("(", self.pos + 1):
                parts.append(self._process(char))
            else:
                break
        return tuple(parts)

    def _escape(self, parts: list[Part]) -> None:
        if self.pos + 1 >= self.end:
            self.broken, self.pos = True, self.end
            return
        if self.text[self.pos + 1] != "\n":
            parts.append(Literal(self.text[self.pos + 1], quoted=True))
        self.pos += 2

    def _extglob(self) -> Literal:
        close = self.text.find(")", self.pos)
        stop = self.end if close < 0 else close + 1
        self.broken |= close < 0
        found, self.pos = self.text[self.pos : stop], stop
        return Literal(found, quoted=False)

    def _single(self) -> Literal:
        close = self.text.find("'", self.pos + 1)
        if close < 0:
            self.broken, close = True, self.end
        found = self.text[self.pos + 1 : close]
        self.pos = min(close + 1, self.end)
        return Literal(found, quoted=True)

    def _double(self) -> list[Part]:
        parts: list[Part] = []
        while self.pos < self.end:
            self.budget.take()
            if match := _DQ_PLAIN.match(self.text, self.pos):
                parts.append(Literal(match.group(), quoted=True))
                self.pos = match.end()
            elif self.text[self.pos] == '"':
                self.pos += 1
                return parts
            else:
                self._in_quotes(parts)
        self.broken = True
        return parts

    def _in_quotes(self, parts: list[Part]) -> None:
        char = self.text[self.pos]
        if char == "$":
            parts.append(self._dollar(quoted=True))
        elif char == "`":
            parts.append(self._backticks(quoted=True))
        else:
            after = self.text[self.pos + 1 : self.pos + 2]
            if after != "\n":
                parts.append(Literal(after if after in {"$", "`", '"', "\\"} else char + after, quoted=True))
            self.pos += 2

    def quoted_text(self) -> Word:
        """All of the text as inside double quotes, where quotes themselves mean nothing: a here-document."""
        parts: list[Part] = []
        while self.pos < self.end:
            self.budget.take()
            if match := _DQ_PLAIN.match(self.text, self.pos):
                parts.append(Literal(match.group(), quoted=True))
                self.pos = match.end()
            elif self.text[self.pos] == '"':
                parts.append(Literal('"', quoted=True))
                self.pos += 1
            else:
                self._in_quotes(parts)
        return tuple(parts)

    def _dollar(self, *, quoted: bool) -> Part:  # noqa: PLR0911 - one for each thing that `$` begins
        text, start = self.text, self.pos
        if not quoted and (match := _ANSI_QUOTED.match(text, start)):
            self.pos = match.end()
            return Literal(ansi(match.group(1)), quoted=True)
        follows = text[start + 1 : start + 2]
        if follows == '"' and not quoted:
            self.pos += 2
            return self._joined(self._double())
        if text.startswith("((", start + 1) and start not in self._no_arithmetic:
            self.pos = start + 3
            found = self._arithmetic(start)
            if found is not None:
                return found
        if follows == "(":
            self.pos = start + 2
            return Substitution(self._nested(")"), quoted)
        if follows == "{":
            self.pos = start + 2
            return self._braced(quoted=quoted)
        if follows == "[":
            return self._old_arithmetic(start)
        if match := _NAME.match(text, start + 1):
            self.pos = match.end()
            return Parameter(match.group(), quoted)
        self.pos += 1
        return Literal("$", quoted=quoted)

    def _joined(self, parts: list[Part]) -> Part:
        if all(isinstance(part, Literal) for part in parts):
            return Literal("".join(part.text for part in parts if isinstance(part, Literal)), quoted=True)
        return Parameter("_", quoted=True, op=":-", arg=tuple(parts))

    def _old_arithmetic(self, start: int) -> Part:
        close = self.text.find("]", start)
        self.broken |= close < 0
        self.pos = self.end if close < 0 else close + 1
        return Arithmetic(())

    def _nested(self, close: str) -> Script:
        self.deeper()
        script = self.script(lambda: self.text.startswith(close, self.pos))
        self.depth -= 1
        if self.pos >= self.end:
            self.broken = True
        self.pos = min(self.pos + 1, self.end)
        return script

    def _process(self, direction: str) -> Process:
        self.pos += 2
        return Process(self._nested(")"), direction)

    def _arithmetic(self, start: int) -> Arithmetic | None:
        """The expression up to `))`; None, with `pos` back where it was, if it is a subshell in a substitution."""
        parts: list[Part] = []
        level = 0
        self.deeper()
        while self.pos < self.end:
            self.budget.take()
            char = self.text[self.pos]
            if match := _ARITH_PLAIN.match(self.text, self.pos):
                self.pos = match.end()
            elif char == "(":
                level, self.pos = level + 1, self.pos + 1
            elif char == ")" and level:
                level, self.pos = level - 1, self.pos + 1
            elif char == ")" and self.text.startswith("))", self.pos):
                self.pos += 2
                self.depth -= 1
                return Arithmetic(tuple(parts))
            elif char == ")":
                break
            elif char in "$`":
                self._in_quotes(parts)
            else:
                self.pos += 1
        self.depth -= 1
        self._no_arithmetic.add(start)
        self.pos = start
        return None

    def _braced(self, *, quoted: bool) -> Part:
        match = _BRACED.match(self.text, self.pos)
        if match is None:
            close = self.text.find("}", self.pos)
            self.broken = True
            self.pos = self.end if close < 0 else close + 1
            return Parameter("", quoted)
        prefix, name, index = match.group(1), match.group(2), match.group(3) or ""
        self.pos = match.end()
        op = ""
        if found := _OP.match(self.text, self.pos):
            op, self.pos = found.group(), found.end()
        arg: list[Part] = []
        self.deeper()
        while self.pos < self.end and self.text[self.pos] != "}":
            self.budget.take()
            if plain := _BRACE_PLAIN.match(self.text, self.pos):
                arg.append(Literal(plain.group(), quoted=False))
                self.pos = plain.end()
            elif self.text[self.pos] == "'":
                arg.append(self._single())
            elif self.text[self.pos] == '"':
                self.pos += 1
                arg += self._double()
            elif self.text[self.pos] == "\\":
                self._escape(arg)
            else:
                self._in_quotes(arg)
        self.depth -= 1
        self.broken |= self.pos >= self.end
        self.pos = min(self.pos + 1, self.end)
        return Parameter(name, quoted, prefix, index, op, tuple(arg))

    def _backticks(self, *, quoted: bool) -> Substitution:
        self.budget.take(4)
        start = close = self.pos + 1
        while close < self.end and self.text[close] != "`":
            close += 2 if self.text[close] == "\\" else 1
        if close >= self.end:
            self.broken = True
        inner = re.sub(r"\\([$`\\])", r"\1", self.text[start:close])
        self.pos = min(close + 1, self.end)
        self.deeper()
        nested = type(self)(inner, self.budget, self.depth)
        script = nested.script(lambda: False)
        self.depth -= 1
        self.broken |= nested.broken
        return Substitution(script, quoted)
