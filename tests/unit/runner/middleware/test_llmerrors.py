"""LLMErrorHandling in runs: retries, the fallback answer, the outcome, the breaker over several runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, hook_config
from langchain_core.messages import AIMessage
from langgraph.errors import GraphInterrupt
from typing_extensions import override

from skerry_api.phases import ModelErrorReason, OutcomeClass, StopReason
from skerry_runner.checkpoint import memory_saver
from skerry_runner.llm.calls import Breakers, ModelCallFailed
from skerry_runner.llm.failure import Failure, FailureKind
from skerry_runner.messages import HIDDEN, MODEL_ERROR, STOP
from skerry_runner.middleware.llmerrors import fallback_message
from skerry_testing.modelrows import play
from skerry_testing.runnerworld import RunnerWorld, document

DOWN = "{error: {status: 500, message: down}}"
DOWN_FOR_GOOD = f"steps: [{DOWN}, {DOWN}, {DOWN}, {{say: never}}]"


async def test_a_fault_that_passes_is_not_seen_in_the_answer(world: RunnerWorld) -> None:
    script = f"steps: [{DOWN}, {{error: {{kind: reset}}}}, {{say: here}}]"
    result = await play(world, document(script))
    assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "here")
    assert (result.progress.turn, result.progress.model_calls) == (1, 3)
    assert world.slept == [1.0, 1.0]
    assert [e["type"] for e in world.sink.events()] == [
        "model.request", "model.error", "llm.retry", "model.request", "model.error", "llm.retry", "model.request",
        "model.response", "title",
    ]  # fmt: skip
    assert [(e["attempt"], e["maxAttempts"], e["reason"]) for e in world.sink.events("llm.retry")] == [
        (1, 3, "ServerError"),
        (2, 3, "ConnectionFailed"),
    ]


async def test_a_provider_s_wait_is_honoured(world: RunnerWorld) -> None:
    script = "steps: [{error: {status: 429, retryAfterSeconds: 7}}, {say: here}]"
    result = await play(world, document(script))
    assert (result.answer, world.slept) == ("here", [7.0])


async def test_used_up_attempts_end_the_run_as_a_model_error(world: RunnerWorld) -> None:
    result = await play(world, document(DOWN_FOR_GOOD))
    outcome = result.outcome
    assert (outcome.class_, outcome.reason, outcome.endpoint) == ("ModelError", "ServerError", "scripted")
    assert outcome.message == "ServerError: down (attempts: 3)"
    assert (result.answer, result.stop_reason, result.progress.model_calls) == (None, None, 3)


@pytest.mark.parametrize(
    ("error", "reason", "calls"),
    [
        ("{status: 401, message: refused}", "AuthenticationFailed", 1),
        ("{status: 429, code: insufficient_quota}", "QuotaExceeded", 1),
        ("{status: 400}", "InvalidRequest", 1),
        ("{status: 404}", "ModelNotFound", 1),
        ("{status: 429, code: limit_burst_rate}", "BurstLimited", 2),
        ("{status: 429}", "RateLimited", 3),
        ("{status: 429, retryAfterSeconds: 301}", "RateLimited", 1),
        ("{kind: timeout}", "ModelTimeout", 3),
        ("{kind: connection}", "ConnectionFailed", 3),
    ],
)
async def test_the_outcome_says_why(world: RunnerWorld, error: str, reason: str, calls: int) -> None:
    steps = ", ".join([f"{{error: {error}}}"] * 4)
    result = await play(world, document(f"steps: [{steps}]"))
    assert (result.outcome.class_, result.outcome.reason) == (OutcomeClass.MODEL_ERROR, reason)
    assert result.progress.model_calls == calls


async def test_what_was_done_before_is_kept_and_the_next_run_goes_on(world: RunnerWorld) -> None:
    saver = memory_saver()
    script = f"steps: [{{toolCalls: [{{name: ls, id: c1}}]}}, {DOWN}, {DOWN}, {DOWN}]"
    result = await play(world, document(script), saver=saver)
    assert (result.outcome.class_, result.progress.turn) == (OutcomeClass.MODEL_ERROR, 2)
    assert world.provider.released == 1
    again = await play(world, document("steps: [{say: better}]", run="run-uid-2"), saver=saver)
    assert (again.outcome.class_, again.answer) == (OutcomeClass.SUCCEEDED, "better")
    (kept,) = [item async for item in saver.alist(None, limit=1)]
    messages = [
        message
        for message in kept.checkpoint["channel_values"]["messages"]
        if not message.additional_kwargs.get(HIDDEN)
    ]
    assert [m.type for m in messages] == ["human", "ai", "tool", "ai", "human", "ai"]
    assert messages[3].additional_kwargs[STOP] == "ModelError"


async def test_an_epoch_after_the_end_says_the_same(world: RunnerWorld) -> None:
    saver = memory_saver()
    first = await play(world, document(DOWN_FOR_GOOD), saver=saver)
    second = await play(world, document(DOWN_FOR_GOOD, epoch=2), saver=saver)
    assert second.outcome == first.outcome
    assert second.progress.model_calls == 3


async def test_a_breaker_over_several_runs_opens_tries_and_closes(world: RunnerWorld) -> None:
    breakers = Breakers()
    for number in range(5):
        result = await play(world, document(DOWN_FOR_GOOD, run=f"run-{number}"), breakers=breakers)
        assert result.outcome.reason == "ServerError"
    assert [e["state"] for e in world.sink.events("llm.circuit")] == ["open"]
    refused = await play(world, document("steps: [{say: never}]", run="run-5"), breakers=breakers)
    assert (refused.outcome.class_, refused.outcome.reason) == (OutcomeClass.MODEL_ERROR, "CircuitOpen")
    assert (refused.outcome.endpoint, refused.progress.model_calls) == ("scripted", 0)
    world.slept.append(60.0)
    result = await play(world, document("steps: [{say: back}]", run="run-6"), breakers=breakers)
    assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "back")
    assert [e["state"] for e in world.sink.events("llm.circuit")] == ["open", "half-open", "closed"]


async def test_a_script_that_does_not_fit_is_no_model_error(world: RunnerWorld) -> None:
    result = await play(world, document("steps: [{expect: {contains: [never]}}]"))
    assert (result.outcome.class_, result.outcome.reason) == (OutcomeClass.APP_ERROR, "ScriptMismatch")
    assert world.sink.events("llm.retry") == []


class Inner(AgentMiddleware[Any, Any, Any]):
    """A row inside LLMErrorHandling that does what a test says."""

    def __init__(self, *does: BaseException | AIMessage | None) -> None:
        super().__init__()
        self._does = list(does)
        self.requests: list[ModelRequest[Any]] = []

    @override
    async def awrap_model_call(self, request: ModelRequest[Any], handler: Any) -> Any:
        self.requests.append(request)
        does = self._does.pop(0) if self._does else None
        if isinstance(does, BaseException):
            raise does
        return does or await handler(request)


async def test_a_fault_of_a_row_is_not_blamed_on_the_model(world: RunnerWorld) -> None:
    result = await play(world, document(), extra=[Inner(ConnectionError("ours"))])
    assert (result.outcome.class_, result.outcome.reason) == (OutcomeClass.APP_ERROR, "ConnectionError")
    assert world.sink.events("llm.retry") == []


async def test_every_attempt_sees_the_same_request(world: RunnerWorld) -> None:
    row = Inner()
    await play(world, document(f"steps: [{DOWN}, {DOWN}, {{say: here}}]"), extra=[row])
    first, *others = row.requests
    assert len(others) == 2
    assert all(request is first for request in others)
    sent = [(e["messages"], e["systemHash"], e["tools"]) for e in world.sink.events("model.request")]
    assert sent[0] == sent[1] == sent[2]


async def test_an_answer_of_a_row_in_the_model_s_place_closes_no_circuit(world: RunnerWorld) -> None:
    breakers = Breakers()
    for number in range(5):
        await play(world, document(DOWN_FOR_GOOD, run=f"run-{number}"), breakers=breakers)
    world.slept.append(60.0)
    own = AIMessage("I know that myself.", additional_kwargs={STOP: True})
    result = await play(world, document(run="run-5"), breakers=breakers, extra=[Inner(own)])
    assert (result.answer, result.stop_reason) == ("I know that myself.", StopReason.END_TURN)
    assert [e["state"] for e in world.sink.events("llm.circuit")] == ["open", "half-open"]


class Bouncing(AgentMiddleware[Any, Any, Any]):
    """Would have the model go on after any answer that no guard made final, as Todo does."""

    @hook_config(can_jump_to=["model"])
    @override
    async def aafter_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return None if state["messages"][-1].additional_kwargs.get(STOP) else {"jump_to": "model"}


async def test_nobody_sends_the_fallback_back_to_the_model(world: RunnerWorld) -> None:
    script = f"steps: [{{say: not yet}}, {DOWN}, {DOWN}, {DOWN}, {{say: never}}]"
    result = await play(world, document(script), extra=[Bouncing()])
    assert (result.outcome.class_, result.progress.model_calls) == (OutcomeClass.MODEL_ERROR, 4)


async def test_an_interrupt_passes(world: RunnerWorld) -> None:
    result = await play(world, document(), extra=[Inner(GraphInterrupt(()))])
    assert world.sink.events("llm.retry") == []
    assert result.outcome.reason != "GraphInterrupt"


async def test_cancelled_in_the_wait_nothing_more_is_called(world: RunnerWorld) -> None:
    waiting = asyncio.Event()

    async def sleep(_: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    world.sleep = sleep  # type: ignore[method-assign,assignment]  # this test's own
    task = asyncio.create_task(play(world, document(f"steps: [{DOWN}, {{say: never}}]")))
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await world.journal.flush()
    assert [e["type"] for e in world.sink.events()] == ["model.request", "model.error", "llm.retry"]


def failed(reason: ModelErrorReason, kind: FailureKind) -> ModelCallFailed:
    return ModelCallFailed(Failure(kind, reason, "E", "detail sk-1"), endpoint="http://h", attempts=2)


@pytest.mark.parametrize("reason", ModelErrorReason)
def test_the_fallback_says_why_without_details(reason: ModelErrorReason) -> None:
    kind = FailureKind.TRANSIENT if reason is ModelErrorReason.SERVER_ERROR else FailureKind.GENERIC
    message = fallback_message(failed(reason, kind))
    assert message.text.startswith("The model could not be called: ")
    assert "sk-1" not in message.text
    assert message.additional_kwargs == {
        STOP: "ModelError",
        MODEL_ERROR: {
            "reason": reason.value, "endpoint": "http://h", "error": "E", "message": "detail sk-1", "attempts": 2,
        },
    }  # fmt: skip
