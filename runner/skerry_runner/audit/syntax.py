"""What the parser finds in a command: words made of parts, redirects, simple and compound commands."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = [
    "Arithmetic", "Assign", "Command", "Compound", "Item", "Literal", "Parameter", "Part", "Pipeline", "Process",
    "Redirect", "Script", "Simple", "Substitution", "Word",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Literal:
    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$name` or `${prefix name[index] op arg}`."""

    name: str
    quoted: bool
    prefix: str = ""
    index: str = ""
    op: str = ""
    arg: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$(…)` or backticks."""

    script: Script
    quoted: bool


@dataclass(frozen=True, slots=True)
class Process:
    """`<(…)` or `>(…)`; `direction` is the bracket's."""

    script: Script
    direction: str


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`$((…))`; its parts may hold substitutions."""

    parts: tuple[Part, ...]


Part = Literal | Parameter | Substitution | Process | Arithmetic
Word = tuple[Part, ...]


@dataclass(slots=True)
class Redirect:
    """`body` is a here-document's, set when its lines have been read."""

    op: str
    target: Word
    fd: str = ""
    body: Word | None = None


@dataclass(frozen=True, slots=True)
class Assign:
    name: str
    values: tuple[Word, ...]
    array: bool = False
    append: bool = False


@dataclass(slots=True)
class Simple:
    assigns: list[Assign] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class Compound:
    """`kind`: group, subshell, if, while, for, case or function. `name` and `words` of a for loop or function."""

    kind: str
    head: Script = ()
    body: Script = ()
    name: str = ""
    words: list[Word] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)


Command = Simple | Compound


@dataclass(frozen=True, slots=True)
class Pipeline:
    commands: tuple[Command, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A pipeline of a list; `background` if `&` follows it."""

    pipeline: Pipeline
    background: bool = False


Script = tuple[Item, ...]
