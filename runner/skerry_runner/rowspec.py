"""What the pipeline's table says of a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware

from skerry_api.document import RunDocument

__all__ = ["AnyRow", "Presence", "RowSpec", "always", "when"]

AnyRow = AgentMiddleware[Any, Any, Any]
Condition = Callable[[RunDocument], "Presence"]


@dataclass(frozen=True)
class Presence:
    """Whether a row is assembled, and the reason for people."""

    present: bool
    reason: str


@dataclass(frozen=True)
class RowSpec:
    """One row of the table. `subagents`: whether subagents get it too."""

    name: str
    why: str
    build: Callable[[RunDocument], AnyRow]
    when: Condition
    subagents: bool = True


def always(_document: RunDocument) -> Presence:
    """No profile is without it."""
    return Presence(present=True, reason="always on")


def when(holds: Callable[[RunDocument], bool], setting: str) -> Condition:
    """There if a setting says so; the reason names its path below the profile's `spec`, and what it says."""

    def condition(document: RunDocument) -> Presence:
        present = holds(document)
        return Presence(present=present, reason=f"{setting} is {str(present).lower()}")

    return condition
