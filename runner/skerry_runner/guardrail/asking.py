"""All providers of a profile, asked in order: the first that denies, or has no decision to give, ends it."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from langgraph.errors import GraphBubbleUp

from skerry_api.guardrail import Guardrail
from skerry_runner.guardrail.custom import build_own
from skerry_runner.guardrail.lists import Lists
from skerry_runner.guardrail.rules import Rules
from skerry_runner.guardrail.types import ALLOWED, Decision, GuardedCall, GuardrailProvider, denied
from skerry_runner.outcome import RunEnded

__all__ = ["Asked", "Guards"]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Asked:
    """`error` is why a provider gave no decision; the decision then is what `failClosed` makes of it."""

    decision: Decision
    provider: str = ""
    error: str | None = None


class Guards:
    """Made once per pipeline.

    Raises:
        InvalidDocument: a rule or the user's own class can't be used.
    """

    def __init__(self, settings: Guardrail) -> None:
        self._settings = settings
        self._own = build_own(settings.path) if settings.path is not None else None
        self._lists = Lists(settings.allow, settings.deny)
        self._rules = Rules(settings.rules)

    def _providers(self, endpoint: GuardrailProvider) -> list[tuple[str, GuardrailProvider]]:
        settings = self._settings
        found: list[tuple[str, GuardrailProvider]] = [
            ("lists", self._lists),
            ("rules", self._rules),
        ]
        if settings.http is not None:
            found.append(("http", endpoint))
        if self._own is not None:
            found.append(("path", self._own))
        return found

    async def ask(self, call: GuardedCall, endpoint: GuardrailProvider) -> Asked:
        """The verdict on a call; `endpoint` is asked if the settings name one. Interrupts, cancellation and RunEnded pass."""
        failed: Asked | None = None
        for name, provider in self._providers(endpoint):
            try:
                decision = await provider.decide(call)
            except (GraphBubbleUp, RunEnded):
                raise
            except Exception as error:  # noqa: BLE001 - whatever it is, there is no decision
                log.warning("guardrail %s gave no decision: %s: %s", name, type(error).__name__, error)
                words = str(error) or type(error).__name__
                if self._settings.fail_closed:
                    reason = "whether it may be made could not be found out"
                    return Asked(denied("no-decision", reason), name, words)
                failed = failed or Asked(ALLOWED, name, words)
                continue
            if not decision.allow:
                return Asked(decision, name)
        return failed or Asked(ALLOWED)
