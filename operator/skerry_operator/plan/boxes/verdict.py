"""What a rule decides about a Sandbox."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from skerry_api.phases import SandboxPhase
from skerry_operator.plan.actions import Action
from skerry_operator.plan.types import Plan

__all__ = ["BoxStep", "BoxVerdict"]


@dataclass(frozen=True, slots=True)
class BoxVerdict:
    phase: SandboxPhase
    reason: str
    message: str = ""
    blocked: bool = False
    """Stalled, though not ended: somebody has to act."""
    words_vary: bool = False
    """The first message stays while the reason does."""
    idle_since: datetime | None = None
    after: tuple[Action, ...] = ()
    """Done once the status says so."""
    wake_at: datetime | None = None
    live: bool = False


BoxStep = BoxVerdict | Plan
"""A Plan where nothing is to be said in the status."""
