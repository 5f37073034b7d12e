"""Make a model call as retries and the endpoint's circuit breaker allow. One object a run; breakers a process.

Lead, subagents and internal calls go through it, so that an endpoint that is down is down for all of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeVar

from langgraph.errors import GraphBubbleUp

from skerry_api.phases import ModelErrorReason
from skerry_api.rows.llmerrorhandling import LLMErrorHandlingSettings
from skerry_runner import events
from skerry_runner.budget import BudgetSpent, Cap
from skerry_runner.llm.circuit import Circuit, CircuitState, Permit, admit, gave_back, succeeded, used_up
from skerry_runner.llm.classify import classify
from skerry_runner.llm.delays import attempts_for, wait_after
from skerry_runner.llm.failure import Failure, FailureKind
from skerry_runner.outcome import RunEnded
from skerry_runner.ports import Clock, JournalPort, Timing

__all__ = ["Breakers", "ModelCallFailed", "ModelCalls"]

T = TypeVar("T")


class ModelCallFailed(Exception):
    """The call failed for good. The exception that ended it is the `__cause__`, if one was raised."""

    def __init__(self, failure: Failure, *, endpoint: str, attempts: int) -> None:
        super().__init__(f"{failure.error}: {failure.message}")
        self.failure = failure
        self.endpoint = endpoint
        self.attempts = attempts


@dataclass
class Breakers:
    """Circuit breakers by endpoint. Not for several threads."""

    circuits: dict[str, Circuit] = field(default_factory=dict)

    def at(self, endpoint: str) -> Circuit:
        return self.circuits.get(endpoint, Circuit())


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _any(_error: BaseException) -> bool:
    return True


def _same(text: str) -> str:
    return text


def _unlimited() -> Cap | None:
    return None


@dataclass(frozen=True)
class ModelCalls:
    """`made` tells whether a model raised an exception: others are faults of ours and pass unchanged.

    `redact` blanks secrets in texts that reach the agent's state and the stream. `spent` tells which budget is used up.
    """

    endpoint: str
    journal: JournalPort
    settings: LLMErrorHandlingSettings = field(default_factory=LLMErrorHandlingSettings)
    breakers: Breakers = field(default_factory=Breakers)
    timing: Timing = field(default_factory=Timing)
    clock: Clock = _utc_now
    made: Callable[[BaseException], bool] = _any
    redact: Callable[[str], str] = _same
    spent: Callable[[], Cap | None] = _unlimited

    async def gate(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """An internal call: as `call`, for the lead."""
        return await self.call(attempt)

    async def call(
        self,
        attempt: Callable[[], Awaitable[T]],
        *,
        agent: str = "lead",
        asked_model: Callable[[T], bool] = lambda _: True,
    ) -> T:
        """Make the call, again if need be. `asked_model`: whether an answer is the model's, and so the endpoint's success.

        Raises:
            BudgetSpent: no call may be made any more.
            ModelCallFailed: it failed for good, or the circuit is open.
            Exception: what no model raised. GraphBubbleUp, RunEnded and cancellation pass as well.
        """
        permit = self._admitted(agent)
        settled = False
        try:
            answer = await self._attempts(attempt, agent)
        except ModelCallFailed as failed:
            if failed.failure.counts:
                settled = True
                now = self.timing.monotonic()
                self._settle(used_up(self._circuit, permit, now, self.settings.circuit), agent)
            raise
        else:
            if asked_model(answer):
                settled = True
                self._settle(succeeded(self._circuit, permit), agent)
            return answer
        finally:
            if not settled:
                self._settle(gave_back(self._circuit, permit), agent)

    async def _attempts(self, attempt: Callable[[], Awaitable[T]], agent: str) -> T:
        number, grown = 1, 0.0
        while True:
            if (cap := self.spent()) is not None:
                raise BudgetSpent(cap)
            try:
                return await attempt()
            except (GraphBubbleUp, RunEnded):
                raise
            except Exception as error:
                if not self.made(error):
                    raise
                failure = self._failure(error)
                wait = wait_after(failure, number, grown, self.settings, self.timing.jitter)
                if wait is None or self._circuit.state is CircuitState.OPEN:
                    raise ModelCallFailed(failure, endpoint=self.endpoint, attempts=number) from error
            grown = wait.grown
            self._tell(failure, number, wait.seconds, agent)
            await self.timing.sleep(wait.seconds)
            number += 1

    @property
    def _circuit(self) -> Circuit:
        return self.breakers.at(self.endpoint)

    def _admitted(self, agent: str) -> Permit:
        admission = admit(self._circuit, self.timing.monotonic())
        self._settle(admission.circuit, agent)
        if admission.permit is None:
            again = (
                f"for {admission.wait:.0f} s more" if admission.wait else "until a call that tries it is back"
            )
            message = f"the endpoint failed too often; it is not called {again}"
            failure = Failure(FailureKind.BUSY, ModelErrorReason.CIRCUIT_OPEN, "CircuitOpen", message)
            raise ModelCallFailed(failure, endpoint=self.endpoint, attempts=0)
        return admission.permit

    def _settle(self, circuit: Circuit, agent: str) -> None:
        before, self.breakers.circuits[self.endpoint] = self._circuit, circuit
        if circuit.state is before.state:
            return
        open_seconds = (
            float(self.settings.circuit.open_seconds) if circuit.state is CircuitState.OPEN else None
        )
        event = events.LlmCircuit(
            endpoint=self.endpoint, state=circuit.state, failures=circuit.failures, open_seconds=open_seconds
        )
        self.journal.emit(event, agent=agent)

    def _failure(self, error: Exception) -> Failure:
        failure = classify(error, self.clock())
        return replace(failure, message=self.redact(failure.message))

    def _tell(self, failure: Failure, number: int, seconds: float, agent: str) -> None:
        event = events.LlmRetry(
            endpoint=self.endpoint,
            attempt=number,
            max_attempts=attempts_for(failure, self.settings),
            wait_ms=round(seconds * 1000),
            kind=failure.kind,
            reason=failure.reason,
            error=failure.error,
            message=events.clip(failure.message),
            status=failure.status,
        )
        self.journal.emit(event, agent=agent)
