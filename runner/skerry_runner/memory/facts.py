"""Facts, and what an answer of the model makes of them. Pure."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from skerry_api.rows.memory import MemorySettings

__all__ = [
    "Category",
    "Change",
    "Fact",
    "MemoryAnswer",
    "NewFact",
    "changed",
    "fact_id",
    "over_cap",
    "ranked",
]


class Category(StrEnum):
    """What a fact is about."""

    PREFERENCE = "preference"
    KNOWLEDGE = "knowledge"
    CONTEXT = "context"
    BEHAVIOR = "behavior"
    GOAL = "goal"
    CORRECTION = "correction"
    """Something the agent got wrong, and how it should be."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Fact(_Part):
    """One line of knowledge; `id` is a function of the content, so that the same fact has one place."""

    id: str
    content: str
    category: Category
    confidence: float = Field(ge=0, le=1)
    run: str
    """UID of the run it was drawn from."""
    time: AwareDatetime


class NewFact(_Part):
    """A fact as the model proposes it."""

    content: str = Field(min_length=1)
    category: Category
    confidence: float = Field(ge=0, le=1, allow_inf_nan=False)


class MemoryAnswer(_Part):
    """What the model wants changed; `remove` holds ids of known facts."""

    add: tuple[NewFact, ...] = Field(default=(), max_length=100)
    remove: tuple[str, ...] = Field(default=(), max_length=1000)


@dataclass(frozen=True)
class Change:
    """`put` replaces facts of the same id."""

    put: tuple[Fact, ...] = ()
    delete: tuple[str, ...] = ()


def one_line(text: str) -> str:
    """Words with single spaces, without characters that turn or hide text."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def fact_id(content: str) -> str:
    """16 hex digits, the same for contents that differ in case, spaces or a full stop alone."""
    plain = unicodedata.normalize("NFKC", one_line(content)).casefold().rstrip(" .!;,")
    return hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()[:16]


def ranked(facts: Iterable[Fact]) -> list[Fact]:
    """The surest first, of equals the newest; the same order for everyone who looks."""
    return sorted(facts, key=lambda fact: (-fact.confidence, -fact.time.timestamp(), fact.id))


def over_cap(facts: Iterable[Fact], most: int) -> list[Fact]:
    """Those that must go."""
    return ranked(facts)[most:]


def changed(
    known: Sequence[Fact], answer: MemoryAnswer, *, run: str, now: datetime, settings: MemorySettings
) -> Change:
    """What to write: facts that are sure enough, once each, within the cap; unknown ids to remove are ignored.

    A fact that is too long is left out rather than cut, since a part of it may say something else.
    """
    least = float(settings.min_confidence)
    old = {fact.id: fact for fact in known}
    gone = {id_ for id_ in answer.remove if id_ in old}
    after = {id_: fact for id_, fact in old.items() if id_ not in gone}
    for new in answer.add:
        content = one_line(new.content)
        if new.confidence < least or not content or len(content) > settings.max_fact_chars:
            continue
        id_ = fact_id(content)
        there = after.get(id_)
        if there is not None and there.confidence >= new.confidence:
            continue
        after[id_] = Fact(
            id=id_, content=content, category=new.category, confidence=new.confidence, run=run, time=now
        )
    for fact in over_cap(after.values(), settings.max_facts):
        del after[fact.id]
    return Change(
        put=tuple(fact for id_, fact in after.items() if old.get(id_) != fact),
        delete=tuple(id_ for id_ in old if id_ not in after),
    )
