"""What a guard has ended stays ended, and what it rewrote takes the message's place: in a real database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.messages import AIMessage, AnyMessage
from typing_extensions import override

from skerry_api.document import RunDocument
from skerry_api.persistence import PersistenceType
from skerry_api.phases import OutcomeClass, StopReason
from skerry_runner.messages import STOP
from skerry_runner.persistence.claim import claim_of, thread_key
from skerry_runner.persistence.opening import StatePlace, open_state
from skerry_runner.toolcalls import declared_calls, without_calls
from skerry_testing.rowrun import placed, play
from skerry_testing.runnerworld import RunnerWorld, document

PLAN = {"todoList": {"enabled": True}}
LIST = "{toolCalls: [{name: write_todos, args: {todos: [{content: write, status: pending}]}}], usage: {input: 5, output: 5}}"
LOOK = "{say: looking, toolCalls: [{name: ls}], usage: {input: 5, output: 5}}"
HAND_ON = (
    "{toolCalls: [{name: task, args: {description: dig, prompt: Dig., subagent_type: general-purpose}}]}"
)
DONE = "{say: done, usage: {input: 5, output: 5}}"
MICRO_EACH = (1_000_000, 1_000_000)


def steps(*parts: str) -> str:
    return f"steps: [{', '.join((LIST, *parts))}]"


@pytest.mark.parametrize(
    ("given", "class_", "reason", "calls"),
    [
        (document(steps(*[LOOK] * 5), pipeline=PLAN), OutcomeClass.SUCCEEDED, StopReason.LOOP_CAPPED, 6),
        (document(steps("{say: nope, finishReason: content_filter}"), pipeline=PLAN),
         OutcomeClass.SUCCEEDED, StopReason.SAFETY_CAPPED, 2),
        (document(steps("{toolCalls: [{name: ls}], provider: anthropic, finishReason: refusal}"), pipeline=PLAN),
         OutcomeClass.SUCCEEDED, StopReason.SAFETY_CAPPED, 2),
        (document(steps("{error: {status: 401}}"), pipeline=PLAN), OutcomeClass.MODEL_ERROR, None, 2),
        (document(steps(DONE), pipeline=PLAN, max_tokens=20), OutcomeClass.SUCCEEDED, StopReason.END_TURN, 2),
        (document(steps(DONE), pipeline=PLAN, max_cost=20, price=MICRO_EACH),
         OutcomeClass.SUCCEEDED, StopReason.END_TURN, 2),
        (document(steps(DONE), pipeline=PLAN, max_turns=2), OutcomeClass.SUCCEEDED, StopReason.END_TURN, 2),
        (document(steps(LOOK, DONE), pipeline=PLAN, max_tokens=20), OutcomeClass.SUCCEEDED, StopReason.TOKEN_CAPPED, 2),
        (document(steps(LOOK, DONE), pipeline=PLAN, max_cost=20, price=MICRO_EACH),
         OutcomeClass.BUDGET_EXCEEDED, None, 2),
        (document(steps("{say: half, finishReason: length}"), pipeline=PLAN),
         OutcomeClass.SUCCEEDED, StopReason.LENGTH_CAPPED, 2),
        (document(steps(HAND_ON, HAND_ON, "{agent: general-purpose, say: found}"), subagents={"enabled": True},
                  pipeline={**PLAN, "subagentLimit": {"maxTotal": 1}}),
         OutcomeClass.SUCCEEDED, StopReason.SUBAGENT_CAPPED, 4),
        # For comparison: of its own will it is put off twice.
        (document(steps(DONE, DONE, DONE), pipeline=PLAN), OutcomeClass.SUCCEEDED, StopReason.END_TURN, 4),
        (document(steps(DONE, DONE, DONE), pipeline=PLAN, max_turns=3), OutcomeClass.SUCCEEDED, StopReason.END_TURN, 3),
    ],
)  # fmt: skip
async def test_no_list_of_todos_brings_back_what_a_guard_ended(
    world: RunnerWorld, given: RunDocument, class_: OutcomeClass, reason: StopReason | None, calls: int
) -> None:
    result = await world.run(given)
    assert (result.outcome.class_, result.stop_reason) == (class_, reason), result.outcome.message
    assert result.progress.model_calls == calls
    assert result.progress.todos is not None


class Capped(AgentMiddleware[Any, Any, Any]):
    """Ends a run as a guard with this reason does."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self._reason = reason

    @override
    async def aafter_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        last = state["messages"][-1]
        if not any(call.name == "ls" for call in declared_calls(last)):
            return None
        return {"messages": [without_calls(last, text="That's all.", kwargs={STOP: self._reason})]}


@pytest.mark.parametrize(
    "reason", [StopReason.SUBAGENT_CAPPED, StopReason.TOKEN_CAPPED, StopReason.LOOP_CAPPED]
)
async def test_whoever_marks_a_message_as_final_ends_the_run(world: RunnerWorld, reason: StopReason) -> None:
    given = document(steps(LOOK), pipeline=PLAN)
    played = await play(
        world,
        given,
        placed(given, {"LoopDetection": Capped(reason)}),
    )
    assert (played.result.stop_reason, played.result.progress.model_calls) == (reason, 2)


UNSAFE = "{say: nope, toolCalls: [{name: ls}], finishReason: content_filter}"


@pytest.mark.parametrize(
    ("script", "mark", "said"),
    [
        (steps(*[LOOK] * 5), "LoopCapped", 6),
        (steps(LOOK, UNSAFE), "SafetyCapped", 3),
        (steps(HAND_ON, HAND_ON, "{agent: general-purpose, say: found}"), "SubagentCapped", 3),
    ],
)
async def test_a_rewritten_message_takes_its_own_place_in_the_database(
    world: RunnerWorld, tmp_path: Path, script: str, mark: str, said: int
) -> None:
    given = document(script, pipeline={**PLAN, "subagentLimit": {"maxTotal": 1}}, subagents={"enabled": True})
    place = StatePlace(PersistenceType.VOLUME, directory=tmp_path)
    result = await world.run(given, place=place)
    assert result.stop_reason == mark
    answers = [event["id"] for event in world.sink.events("model.response") if event["agent"] == "lead"]
    assert len(answers) == said
    # Read by another process, as it were: nothing of this one is left.
    config: Any = {"configurable": {"thread_id": thread_key(given), "checkpoint_ns": ""}}
    async with open_state(place, claim_of(given)) as kept:
        histories = [
            item.checkpoint["channel_values"].get("messages", []) async for item in kept.saver.alist(config)
        ]
    newest: list[AnyMessage] = histories[0]
    assert [message.id for message in newest if isinstance(message, AIMessage)] == answers
    assert newest[-1].additional_kwargs[STOP] == mark
    assert declared_calls(newest[-1]) == []  # type: ignore[arg-type]  # the last one is the model's
    for messages in histories:
        ids = [message.id for message in messages]
        assert len(set(ids)) == len(ids)
    # Before the guards had their say the calls stood there, under the same id.
    before = [m[-1] for m in histories if m and m[-1].id == answers[-1] and declared_calls(m[-1])]
    assert len(before) == 1
