"""Sandbox: what is committed to graph state; acquiring and releasing in a run is in test_run.py."""

from __future__ import annotations

import pytest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from skerry_api.phases import OutcomeClass
from skerry_runner.checkpoint import memory_saver
from skerry_runner.middleware.sandbox import with_sandbox
from skerry_runner.session import LOST_BEFORE, SandboxSession
from skerry_runner.state import SandboxRef
from skerry_testing.runnerworld import RunnerWorld, document

MESSAGE = ToolMessage("a", tool_call_id="c1")
REF: SandboxRef = {"id": "sbx-1"}


def test_a_message_becomes_a_command() -> None:
    assert with_sandbox(MESSAGE, REF) == Command(update={"sandbox": {"id": "sbx-1"}, "messages": [MESSAGE]})


def test_a_command_keeps_all_it_had() -> None:
    command = Command(update={"messages": [MESSAGE], "x": 1}, goto="there", graph="g", resume={"a": 1})
    assert with_sandbox(command, REF) == Command(
        update={"messages": [MESSAGE], "x": 1, "sandbox": {"id": "sbx-1"}},
        goto="there",
        graph="g",
        resume={"a": 1},
    )
    assert with_sandbox(Command(goto="x"), {"id": "s", "pod": "p"}) == Command(
        update={"sandbox": {"id": "s", "pod": "p"}}, goto="x"
    )


def test_a_command_that_is_no_plain_update_stays() -> None:
    command: Command[None] = Command(update=[("x", 1)])
    assert with_sandbox(command, REF) is command


LS = "steps: [{toolCalls: [{name: ls}]}, {say: ok}]"


async def test_another_id_on_the_same_thread_fails_closed(world: RunnerWorld) -> None:
    saver = memory_saver()
    await world.run(document(LS), checkpointer=saver)
    world.provider.sandbox.id = "sbx-2"
    result = await world.run(document(LS, run="run-uid-2"), checkpointer=saver)
    assert result.outcome.class_ is OutcomeClass.APP_ERROR
    assert "the thread's sandbox is sbx-1, not sbx-2" in result.outcome.message
    assert world.provider.released == 2


async def test_the_same_id_on_the_next_run_of_a_thread_is_fine(world: RunnerWorld) -> None:
    saver = memory_saver()
    for run in ("run-uid-1", "run-uid-2"):
        result = await world.run(document(LS, run=run), checkpointer=saver)
        assert (result.outcome.class_, result.sandbox_id) == (OutcomeClass.SUCCEEDED, "sbx-1")
    assert world.provider.acquired == 2


@pytest.mark.parametrize(
    "call",
    [
        "{name: bash, args: {command: 5}}",
        "{name: bash, args: {}}",
        "{name: read_file, args: {path: [1]}}",
        "{name: nothing_of_the_kind}",
        "{name: ls, args: {path: /etc}}",
        "{name: write_file, args: {path: /mnt/user-data/../../etc/x, content: a}}",
    ],
)
async def test_a_call_that_can_not_work_costs_no_sandbox(world: RunnerWorld, call: str) -> None:
    script = f"steps:\n- toolCalls: [{call}]\n- expect: {{contains: ['tool: .* .error.: ']}}\n  say: ok\n"
    result = await world.run(document(script))
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED, result.outcome
    assert (world.provider.acquired, result.progress.tool_calls) == (0, 1)
    (event,) = world.sink.events("tool.result")
    assert event["status"] == "error"


ASKED = """\
steps:
- toolCalls: [{name: bash, args: {command: one}}]
- toolCalls: [{name: ask_clarification, args: {question: Which one, clarification_type: missing_info}}]
- toolCalls: [{name: bash, args: {command: two}}, {name: bash, args: {command: three}}]
- toolCalls: [{name: bash, args: {command: four}}]
- say: ok
"""


def results(world: RunnerWorld) -> list[str]:
    return [str(event["content"]) for event in world.sink.events("tool.result") if event["name"] == "bash"]


@pytest.mark.parametrize(("later", "lost"), [("pod-1", 0), ("pod-2", 1), (None, 0)])
async def test_a_sandbox_replaced_while_an_answer_was_awaited_is_told_once(
    later: str | None, lost: int
) -> None:
    saver = memory_saver()
    async with RunnerWorld() as world:
        world.provider.sandbox.pod_uid = "pod-1"
        paused = await world.run(document(ASKED), checkpointer=saver)
        assert paused.outcome.class_ is OutcomeClass.AWAITING_INPUT
        assert results(world) == ["one"]
    async with RunnerWorld() as world:
        world.provider.sandbox.pod_uid = later
        world.people.answers.append("that one")
        result = await world.run(document(ASKED, epoch=2), checkpointer=saver)
        assert result.answer == "ok", result.outcome
        told = [text.startswith(f"{LOST_BEFORE}\n\n") for text in results(world)]
        assert (len(told), told.count(True), told[2]) == (3, lost, False)
        assert [text.removeprefix(LOST_BEFORE).strip() for text in results(world)] == ["two", "three", "four"]
        assert [event["message"] for event in world.sink.events("sandbox.replaced")] == [LOST_BEFORE] * lost
    async with RunnerWorld() as world:
        world.provider.sandbox.pod_uid = later
        await world.run(document(LS, run="run-uid-2"), checkpointer=saver)
        assert world.sink.events("sandbox.replaced") == [], "what was told stands in the thread's state"


async def test_each_agent_is_told_once_and_the_journal_once(world: RunnerWorld) -> None:
    session = SandboxSession(world.provider, world.reporter, world.journal)
    session.worked_in("pod-1")
    assert session.lost_before("") is None, "nothing is known before there is a sandbox"
    world.provider.sandbox.pod_uid = "pod-2"
    async with session.hold():
        await session.acquire()
        assert [session.lost_before(who) for who in ("", "child", "", "child")] == [
            LOST_BEFORE, LOST_BEFORE, None, None,
        ]  # fmt: skip
        world.provider.sandbox.pod_uid = "pod-3"
        assert session.lost_before("another") == LOST_BEFORE
    await world.journal.flush()
    assert len(world.sink.events("sandbox.replaced")) == 1


async def test_a_loss_within_the_epoch_is_told_by_the_call_that_met_it_alone(world: RunnerWorld) -> None:
    session = SandboxSession(world.provider, world.reporter, world.journal)
    session.worked_in("pod-1")
    world.provider.sandbox.pod_uid = "pod-1"
    async with session.hold():
        await session.acquire()
        assert session.lost_before("") is None
        world.provider.sandbox.pod_uid = "pod-2"
        assert session.lost_before("") is None
