"""What a run may use of tokens and money, and whether that is used up. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from skerry_api.phases import OutcomeClass, StopReason
from skerry_runner.usage import PICO_PER_MICRO, Counts

__all__ = ["BUDGET_CAPS", "Budget", "BudgetSpent", "Cap"]

Cap = StopReason | OutcomeClass
"""TokenCapped, or BudgetExceeded, which is a failure."""
BUDGET_CAPS = frozenset({StopReason.TOKEN_CAPPED.value, OutcomeClass.BUDGET_EXCEEDED.value})


class BudgetSpent(Exception):
    """No further call of a model may be made."""

    def __init__(self, cap: Cap) -> None:
        super().__init__(f"the run's budget is used up: {cap.value}")
        self.cap = cap


@dataclass(frozen=True)
class Budget:
    """Limits of a whole run, subagents and internal calls included. None: no limit."""

    max_tokens: int | None = None
    max_cost_micro_usd: int | None = None

    def spent(self, used: Counts) -> Cap | None:
        """Which limit is reached; the one that makes the run fail comes first."""
        if self.max_cost_micro_usd is not None and used.cost >= self.max_cost_micro_usd * PICO_PER_MICRO:
            return OutcomeClass.BUDGET_EXCEEDED
        if self.max_tokens is not None and used.total >= self.max_tokens:
            return StopReason.TOKEN_CAPPED
        return None
