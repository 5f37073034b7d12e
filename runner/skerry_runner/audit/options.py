"""Arguments of a command, sorted into options and operands as GNU's getopt does."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from skerry_runner.audit.values import Text

__all__ = ["Options", "split_options"]


@dataclass
class Options:
    """`flags`: short letters and long names (without dashes); `values`: (name, value) of those that take one."""

    flags: set[str] = field(default_factory=set)
    values: list[tuple[str, Text]] = field(default_factory=list)
    operands: list[Text] = field(default_factory=list)

    def has(self, letters: str, *words: str) -> bool:
        """Whether one of the letters, or an abbreviation of one of the long names, was given."""
        return any(
            flag in letters if len(flag) == 1 else any(word.startswith(flag) for word in words)
            for flag in self.flags
        )

    def value(self, *names: str) -> Text | None:
        """The last value of an option."""
        return next((value for name, value in reversed(self.values) if name in names), None)


def split_options(args: Sequence[Text], valued: Container[str] = (), *, stop: bool = False) -> Options:
    """`valued`: names that take a value. `stop`: the first operand ends the options, as before a command."""
    found = Options()
    rest = list(args)
    while rest:
        arg = rest.pop(0)
        word = arg.text
        if word == "--":
            found.operands += rest
            break
        if len(word) < 2 or word[0] != "-":
            found.operands.append(arg)
            if stop:
                found.operands += rest
                break
            continue
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            found.flags.add(name)
            if equals:
                found.values.append((name, Text(value, arg.glob, arg.taint)))
            elif name in valued and rest:
                found.values.append((name, rest.pop(0)))
            continue
        _short(found, arg, rest, valued)
    return found


def _short(found: Options, arg: Text, rest: list[Text], valued: Container[str]) -> None:
    letters = arg.text[1:]
    if len(letters) > 1 and letters in valued:
        found.flags.add(letters)
        if rest:
            found.values.append((letters, rest.pop(0)))
        return
    for at, letter in enumerate(letters):
        found.flags.add(letter)
        if letter in valued:
            value = letters[at + 1 :]
            if value:
                found.values.append((letter, Text(value, arg.glob, arg.taint)))
            elif rest:
                found.values.append((letter, rest.pop(0)))
            return
