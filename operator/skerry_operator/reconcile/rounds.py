"""One pass over a run or a sandbox: gather and plan until there is nothing left to do, within a bound.

The order within a round is that of plan/types.py: live reads, then actions, then the status, then sleep.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from skerry_api.agentrun import AgentRun
from skerry_api.sandbox import Sandbox
from skerry_operator.errors import Conflict, NotFound, OperatorError
from skerry_operator.keys import Key
from skerry_operator.plan.actions import Refusal
from skerry_operator.plan.types import Plan
from skerry_operator.reconcile.apply import Applier
from skerry_operator.reconcile.statuswriter import StatusWriter

__all__ = ["MAX_ROUNDS", "Look", "Restless", "Rounds", "View"]

MAX_ROUNDS = 16


class Restless(OperatorError):
    """Planning never came to rest within a pass; the key is tried again after a back-off."""


@dataclass(frozen=True)
class View:
    """A plan and the object that it was made of; None where there is none (then there is no status either)."""

    plan: Plan
    subject: AgentRun | Sandbox | None


Look = Callable[[Key, bool, Refusal | None], Awaitable[View]]
"""Gather (live or not, with the last refusal of the pass) and plan."""


class Rounds:
    def __init__(self, applier: Applier, writer: StatusWriter, on_conflict: Callable[[Key], None]) -> None:
        self._applier = applier
        self._writer = writer
        self._on_conflict = on_conflict

    async def settle(self, key: Key, look: Look) -> datetime | None:
        """Bring the key to rest; says when it wants to be looked at again. Raises KubeError and Restless."""
        live = False
        refusal: Refusal | None = None
        for _ in range(MAX_ROUNDS):
            view = await look(key, live, refusal)
            plan = view.plan
            if plan.needs_live and not live:
                live = True
                continue
            live = False
            try:
                if plan.actions:
                    refusal = await self._act(plan) or refusal
                elif plan.status is not None and view.subject is not None:
                    await self._writer.write(view.subject, plan)
                else:
                    return plan.wake_at
            except (Conflict, NotFound):
                if view.subject is None:
                    raise
                # Somebody wrote or deleted it meanwhile: look at what it is now, and plan again.
                self._on_conflict(key)
                await self._writer.refresh(key, view.subject)
        raise Restless(f"{key}: not at rest after {MAX_ROUNDS} rounds")

    async def _act(self, plan: Plan) -> Refusal | None:
        """All actions in order, up to the first that is refused."""
        for action in plan.actions:
            refused = await self._applier.do(action)
            if refused is not None:
                return refused
        return None
