"""What a word or an output is known to be: text with holes, and where the holes come from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["EMPTY", "UNKNOWN", "Taint", "Text", "join", "plain", "unknown"]

UNKNOWN = "\ufffc"
"""Stands in a text for what can't be known beforehand."""
LENGTH_MAX = 20_000


class Taint(StrEnum):
    """Where an unknown text comes from."""

    NET = "net"
    DECODED = "decoded"
    PROGRAM = "program"
    COMMAND = "command"
    FILE = "file"
    ENVIRONMENT = "environment"
    SECRET = "secret"  # noqa: S105 - a name
    FORM = "form"
    """Only its form is known: a list of names, a line of options."""


@dataclass(frozen=True, slots=True)
class Text:
    """`glob`: it holds unquoted wildcards."""

    text: str
    glob: bool = False
    taint: frozenset[Taint] = frozenset()

    @property
    def known(self) -> bool:
        return UNKNOWN not in self.text


EMPTY = Text("")


def plain(text: str) -> Text:
    return Text(text)


def unknown(*taint: Taint, also: Text | None = None) -> Text:
    """Nothing is known of it but its source."""
    return Text(UNKNOWN, taint=frozenset(taint) | (also.taint if also else frozenset()))


def join(texts: Iterable[Text], between: str = "") -> Text:
    found = list(texts)
    if len(found) == 1:
        return found[0]
    taint: frozenset[Taint] = frozenset()
    for text in found:
        taint |= text.taint
    return Text(between.join(text.text for text in found)[:LENGTH_MAX], any(t.glob for t in found), taint)
