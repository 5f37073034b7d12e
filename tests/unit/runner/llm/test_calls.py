"""Model calls: what is tried again, what moves the breaker, what is written down, what passes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from langgraph.errors import GraphInterrupt

from skerry_api.phases import ModelErrorReason
from skerry_api.rows.llmerrorhandling import CircuitSettings, LLMErrorHandlingSettings
from skerry_runner.events import Event
from skerry_runner.llm.calls import Breakers, ModelCallFailed, ModelCalls
from skerry_runner.models.scripted.faults import fault_of
from skerry_runner.models.scripted.schema import ScriptError
from skerry_runner.outcome import RunEnded, app_error
from skerry_runner.ports import Timing


def fault(**fields: Any) -> Exception:
    return fault_of(ScriptError.model_validate(fields))


DOWN = {"status": 500}
NEVER_AGAIN = {"status": 401}


@dataclass
class Bench:
    """Calls of an endpoint, with a clock that only waits move."""

    settings: LLMErrorHandlingSettings = field(
        default_factory=lambda: LLMErrorHandlingSettings(circuit=CircuitSettings(failures=2, open_seconds=60))
    )
    events: list[dict[str, Any]] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    now: float = 0.0

    def __post_init__(self) -> None:
        self.breakers = Breakers()
        self.calls = self.to("http://one")

    def to(self, endpoint: str) -> ModelCalls:
        return ModelCalls(
            endpoint=endpoint,
            journal=self,
            settings=self.settings,
            breakers=self.breakers,
            timing=Timing(lambda: self.now, self._sleep, lambda low, _: low),
            clock=lambda: datetime(2026, 5, 8, tzinfo=UTC),
        )

    def emit(self, event: Event, *, agent: str = "lead") -> None:
        self.events.append({"agent": agent, **event.body()})

    async def flush(self) -> None: ...

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    def states(self) -> list[str]:
        return [event["state"] for event in self.events if event["type"] == "llm.circuit"]


@dataclass
class Answers:
    """Raises what is an exception, gives the rest."""

    given: list[Any]
    made: int = 0

    async def __call__(self) -> Any:
        self.made += 1
        answer = self.given.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer


async def failed(calls: ModelCalls, *errors: Exception) -> ModelCallFailed:
    with pytest.raises(ModelCallFailed) as caught:
        await calls.call(Answers(list(errors)))
    return caught.value


async def used_up(calls: ModelCalls) -> ModelCallFailed:
    return await failed(calls, *(fault(**DOWN) for _ in range(3)))


async def test_an_answer_at_once_leaves_no_trace() -> None:
    bench = Bench()
    assert await bench.calls.call(Answers(["yes"])) == "yes"
    assert (bench.events, bench.waits) == ([], [])


async def test_it_is_tried_again_and_told() -> None:
    bench = Bench()
    attempt = Answers([fault(status=503, message="down"), fault(kind="reset"), "yes"])
    assert await bench.calls.call(attempt, agent="child") == "yes"
    assert (attempt.made, bench.waits) == (3, [1.0, 1.0])
    first, second = bench.events
    assert first == {
        "agent": "child", "type": "llm.retry", "endpoint": "http://one", "attempt": 1, "maxAttempts": 3, "waitMs": 1000,
        "kind": "transient", "reason": "Overloaded", "error": "ServerError", "message": "down", "status": 503,
    }  # fmt: skip
    assert (second["attempt"], second["reason"]) == (2, "ConnectionFailed")


async def test_used_up_attempts_end_it() -> None:
    bench = Bench()
    error = await used_up(bench.calls)
    assert (error.attempts, error.endpoint, error.failure.reason) == (3, "http://one", "ServerError")
    assert isinstance(error.__cause__, Exception)
    assert [event["attempt"] for event in bench.events] == [1, 2]


async def test_what_can_not_be_helped_ends_it_at_once() -> None:
    bench = Bench()
    error = await failed(bench.calls, fault(**NEVER_AGAIN))
    assert (error.attempts, error.failure.reason, bench.events) == (1, "AuthenticationFailed", [])


async def test_a_wait_too_long_ends_it_with_the_attempts_made() -> None:
    bench = Bench()
    error = await failed(bench.calls, fault(status=429, retryAfterSeconds=301))
    assert (error.attempts, error.failure.retry_after, bench.waits) == (1, 301.0, [])


async def test_secrets_are_blanked_out_of_what_it_raises() -> None:
    bench = Bench()
    calls = replace(bench.calls, redact=lambda text: text.replace("sk-1", "***"))
    error = await failed(calls, fault(status=401, message="bad key sk-1"))
    assert error.failure.message == "bad key ***"


async def test_the_circuit_opens_refuses_tries_and_closes() -> None:
    bench = Bench()
    await used_up(bench.calls)
    assert bench.states() == []
    await used_up(bench.calls)
    assert bench.states() == ["open"]
    (opened,) = [event for event in bench.events if event["type"] == "llm.circuit"]
    assert opened == {
        "agent": "lead", "type": "llm.circuit", "endpoint": "http://one", "state": "open", "failures": 2, "openSeconds": 60.0,
    }  # fmt: skip
    never = Answers(["never"])
    with pytest.raises(ModelCallFailed) as caught:
        await bench.calls.call(never)
    assert (never.made, caught.value.attempts) == (0, 0)
    assert caught.value.failure.reason is ModelErrorReason.CIRCUIT_OPEN
    assert "for 60 s more" in str(caught.value)
    bench.now += 60
    assert await bench.calls.call(Answers(["yes"])) == "yes"
    assert bench.states() == ["open", "half-open", "closed"]
    assert bench.events[-1]["failures"] == 0


async def test_a_refused_call_does_not_count() -> None:
    bench = Bench()
    await used_up(bench.calls)
    await used_up(bench.calls)
    for _ in range(5):
        await failed(bench.calls)
    bench.now += 60
    await bench.calls.call(Answers(["yes"]))
    assert bench.states() == ["open", "half-open", "closed"]


async def test_a_probe_that_fails_opens_again() -> None:
    bench = Bench()
    await used_up(bench.calls)
    await used_up(bench.calls)
    bench.now += 60
    await used_up(bench.calls)
    assert bench.states() == ["open", "half-open", "open"]
    await failed(bench.calls)


@pytest.mark.parametrize(
    "ending",
    [
        asyncio.CancelledError(),
        GraphInterrupt(()),
        RunEnded(app_error("X", "x")),
        fault(**NEVER_AGAIN),
        fault(status=429, code="insufficient_quota"),
        fault(status=429, code="limit_burst_rate", retryAfterSeconds=999),
        KeyboardInterrupt(),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_a_probe_that_tells_nothing_is_given_back(ending: BaseException) -> None:
    bench = Bench()
    await used_up(bench.calls)
    await used_up(bench.calls)
    bench.now += 60
    with pytest.raises((type(ending), ModelCallFailed)):
        await bench.calls.call(Answers([ending]))
    assert bench.states() == ["open", "half-open"]
    assert await bench.calls.call(Answers(["yes"])) == "yes"
    assert bench.states() == ["open", "half-open", "closed"]


async def test_one_probe_at_a_time_and_its_cancellation_gives_it_back() -> None:
    bench = Bench()
    await used_up(bench.calls)
    await used_up(bench.calls)
    bench.now += 60
    asked, never = asyncio.Event(), asyncio.Event()

    async def hang() -> str:
        asked.set()
        await never.wait()
        return "never"

    probe = asyncio.create_task(bench.calls.call(hang))
    await asked.wait()
    refused = await failed(bench.calls)
    assert "until a call that tries it is back" in str(refused)
    probe.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probe
    assert await bench.calls.call(Answers(["yes"])) == "yes"


async def test_a_cancellation_in_the_wait_gives_the_probe_back() -> None:
    bench = Bench()
    await used_up(bench.calls)
    await used_up(bench.calls)
    bench.now += 60
    waiting, never = asyncio.Event(), asyncio.Event()

    async def sleep(_: float) -> None:
        waiting.set()
        await never.wait()

    calls = replace(bench.calls, timing=replace(bench.calls.timing, sleep=sleep))
    probe = asyncio.create_task(calls.call(Answers([fault(**DOWN), "late"])))
    await waiting.wait()
    probe.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probe
    assert await bench.calls.call(Answers(["yes"])) == "yes"
    assert bench.states() == ["open", "half-open", "closed"]


async def test_an_answer_that_is_not_the_model_s_closes_nothing() -> None:
    bench = Bench()
    await used_up(bench.calls)
    await used_up(bench.calls)
    bench.now += 60
    assert await bench.calls.call(Answers(["a row's"]), asked_model=lambda _: False) == "a row's"
    assert bench.states() == ["open", "half-open"]


@pytest.mark.parametrize("error", [fault(**NEVER_AGAIN), fault(status=429, code="limit_burst_rate")])
async def test_what_says_nothing_of_the_endpoint_opens_nothing(error: Exception) -> None:
    bench = Bench()
    for _ in range(4):
        await failed(bench.calls, error, error)
    assert bench.states() == []


async def test_a_success_starts_the_count_anew() -> None:
    bench = Bench()
    for _ in range(3):
        await used_up(bench.calls)
        await bench.calls.call(Answers(["yes"]))
    assert bench.states() == []


async def test_endpoints_do_not_share_a_breaker_but_calls_of_one_do() -> None:
    bench = Bench()
    await used_up(bench.calls)
    await used_up(bench.to("http://one"))
    assert bench.states() == ["open"]
    assert await bench.to("http://two").call(Answers(["yes"])) == "yes"
    with pytest.raises(ModelCallFailed):
        await bench.to("http://one").gate(Answers(["never"]))


async def test_a_circuit_that_opens_meanwhile_ends_the_waiting() -> None:
    bench = Bench()
    attempt = Answers([fault(**DOWN), fault(**DOWN), "never"])

    async def down_for_all(_: float) -> None:
        await used_up(bench.calls)
        await used_up(bench.calls)

    calls = replace(bench.calls, timing=replace(bench.calls.timing, sleep=down_for_all))
    with pytest.raises(ModelCallFailed) as caught:
        await calls.call(attempt)
    assert (caught.value.attempts, attempt.made, bench.states()) == (2, 2, ["open"])


@pytest.mark.parametrize("error", [KeyError("ours"), ConnectionError("ours too")])
async def test_a_fault_that_no_model_raised_passes(error: Exception) -> None:
    bench = Bench()
    calls = replace(bench.calls, made=lambda _: False)
    with pytest.raises(type(error)):
        await calls.call(Answers([error]))
    assert bench.events == []
