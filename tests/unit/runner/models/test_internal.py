"""Internal calls: whose they are, what they count for, and how they fail."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.messages import HumanMessage
from typing_extensions import override

from skerry_api.phases import OutcomeClass
from skerry_runner.models.internal import InternalAnswer, Purpose, internal_call
from skerry_testing.runnerworld import RunnerWorld, document
from skerry_testing.threadruns import ThreadRuns

ASKED = [HumanMessage("What is it called?")]


class Asks(AgentMiddleware[Any, Any, Any]):
    """Makes an internal call before each turn, and writes down what came of it."""

    def __init__(self, purpose: Purpose = Purpose.TITLE, seconds: float = 3600) -> None:
        super().__init__()
        self.answers: list[InternalAnswer] = []
        self._purpose, self._seconds = purpose, seconds

    @override
    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        answer = await internal_call(runtime.context, state, self._purpose, ASKED, seconds=self._seconds)
        self.answers.append(answer)
        return answer.update


@pytest.fixture
def asked(world: RunnerWorld) -> tuple[Asks, ThreadRuns]:
    row = Asks()
    return row, ThreadRuns(world, row)


def texts(row: Asks) -> list[str | None]:
    return [answer.message.text if answer.message else None for answer in row.answers]


async def test_it_is_answered_by_its_purpose_s_steps(
    world: RunnerWorld, asked: tuple[Asks, ThreadRuns]
) -> None:
    row, runs = asked
    script = """strict: true
steps:
- {say: done}
- {purpose: title, say: Tea, usage: {input: 20, output: 1}, expect: {contains: ['^human: What is it called.$'], tools: {exclude: [ls]}}}
"""
    result = await runs.play(document(script))
    assert (result.outcome.message, result.answer) == ("", "done")
    assert texts(row) == ["Tea"]
    assert (row.answers[0].error, list(row.answers[0].update)) == (None, ["script"])
    request, other = world.sink.events("model.request")
    assert (request["purpose"], request["agent"], request["tools"]) == ("title", "lead", [])
    assert "purpose" not in other
    limits = (await runs.values())["limits"]["run-uid-1"]
    assert limits["internal"] == 21
    assert result.usage.total == limits["total"] > 21


async def test_without_a_step_there_is_no_call(world: RunnerWorld, asked: tuple[Asks, ThreadRuns]) -> None:
    row, runs = asked
    script = "steps: [{purpose: summary, say: x}, {toolCalls: [{name: ls}]}, {say: done}, {purpose: title, say: A}]"
    result = await runs.play(document(script))
    assert result.outcome.message == ""
    assert texts(row) == ["A", None]
    assert row.answers[1].error == "the script has no step left for the purpose title"
    assert [e.get("purpose") for e in world.sink.events("model.request")] == ["title", None, None]


async def test_the_place_in_the_script_outlives_the_process(asked: tuple[Asks, ThreadRuns]) -> None:
    row, runs = asked
    script = "steps: [{say: one}, {purpose: title, say: A}, {purpose: title, say: B}]"
    await runs.play(document(script))
    kept = (await runs.values())["script"]
    assert sorted((key.rpartition("#")[2] if "#" in key else "lead", place) for key, place in kept.items()) == [
        ("lead", 1), ("title", 1),
    ]  # fmt: skip
    # Another run of the thread starts at the first step.
    await runs.play(document(script, run="r2"))
    assert texts(row) == ["A", "A"]


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("{purpose: title, error: {status: 401, message: no key}}", "no key"),
        (
            "{purpose: title, error: {kind: timeout}}, {purpose: title, error: {status: 400}}",
            "InvalidRequestError",
        ),
    ],
)
async def test_an_error_is_told_and_the_run_goes_on(
    world: RunnerWorld, asked: tuple[Asks, ThreadRuns], step: str, words: str
) -> None:
    row, runs = asked
    result = await runs.play(document(f"steps: [{{say: done}}, {step}]"))
    assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "done")
    (answer,) = row.answers
    assert answer.message is None
    assert answer.error is not None
    assert words in answer.error
    assert len(world.sink.events("model.error")) == step.count("error")
    assert world.sink.events("script.unused") == []


async def test_a_call_that_takes_too_long_is_given_up(world: RunnerWorld) -> None:
    row = Asks(seconds=0.01)
    script = "steps: [{say: done}, {purpose: title, say: late, delaySeconds: 3600}]"
    result = await ThreadRuns(world, row).play(document(script))
    assert result.answer == "done"
    assert [answer.error for answer in row.answers] == ["no answer within 0.01 s"]


async def test_a_step_that_expects_something_else_ends_the_run(asked: tuple[Asks, ThreadRuns]) -> None:
    _, runs = asked
    script = "steps: [{say: done}, {purpose: title, say: x, expect: {contains: [tea]}}]"
    result = await runs.play(document(script))
    assert (result.outcome.class_, result.outcome.reason) == (OutcomeClass.APP_ERROR, "ScriptMismatch")


async def test_cancellation_passes(world: RunnerWorld, asked: tuple[Asks, ThreadRuns]) -> None:
    row, runs = asked
    script = "steps: [{say: done}, {purpose: title, say: late, delaySeconds: 3600}]"
    task = asyncio.create_task(runs.play(document(script)))
    await world.reporter.until(lambda progress: progress.model_calls == 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert row.answers == []
