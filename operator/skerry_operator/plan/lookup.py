"""Answers to "is it there?". Unknown is not missing: an API error must never look like absence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["UNKNOWN", "Broken", "Found", "Lookup", "Missing", "Unknown"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    value: T


@dataclass(frozen=True, slots=True)
class Missing:
    """The API server says that it is not there. `detail` names what, e.g. a key in a ConfigMap that exists."""

    detail: str = ""


@dataclass(frozen=True, slots=True)
class Broken:
    """It is there, and our models can't read it: CRDs and operator are of different versions. `detail`: path, problem."""

    detail: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody could say: a time-out, a 5xx, not asked yet."""

    detail: str = ""


UNKNOWN = Unknown()

Lookup = Found[T] | Missing | Broken | Unknown
