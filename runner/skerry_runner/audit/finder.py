"""What the checks of single commands may ask of the judge, and tell it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from skerry_runner.audit.paths import Place
from skerry_runner.audit.scan import Budget
from skerry_runner.audit.values import Taint, Text, unknown

__all__ = ["Finder", "Handler", "default_output"]


class Finder(ABC):
    """The judge as its checks see it."""

    budget: Budget
    cwd: Place
    files: dict[str, Text]
    vars: dict[str, list[Text]]
    positional: list[Text] | None

    @abstractmethod
    def find(self, rule: str) -> None:
        """A rule is broken."""

    @abstractmethod
    def code(self, text: str, stdin: Text | None = None, positional: Sequence[Text] | None = None) -> Text:
        """Judge a text that a shell runs; what it prints."""

    @abstractmethod
    def call(self, args: Sequence[Text], stdin: Text | None) -> Text:
        """Judge a command with its arguments; what it prints."""

    @abstractmethod
    def write(self, target: Text) -> str | None:
        """Judge that something writes to a path; the path, if it is known."""

    @abstractmethod
    def keep(self, place: str, out: Text, *, appends: bool = False) -> None:
        """Remember what a file holds."""


Handler = Callable[[Finder, str, Sequence[Text], Text | None], Text | None]
"""Takes the judge, the command's name, its arguments and its input; what it prints, None if that is anyone's guess."""


def default_output(stdin: Text | None) -> Text:
    """What a command prints of which nothing is known."""
    return unknown(Taint.COMMAND, also=stdin)
