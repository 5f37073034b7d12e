"""Sandbox: what is committed to graph state; acquiring and releasing in a run is in test_run.py."""

from __future__ import annotations

import pytest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from skerry_api.phases import OutcomeClass
from skerry_runner.checkpoint import memory_saver
from skerry_runner.middleware.sandbox import with_sandbox
from skerry_testing.runnerworld import RunnerWorld, document

MESSAGE = ToolMessage("a", tool_call_id="c1")


def test_a_message_becomes_a_command() -> None:
    assert with_sandbox(MESSAGE, "sbx-1") == Command(
        update={"sandbox": {"id": "sbx-1"}, "messages": [MESSAGE]}
    )


def test_a_command_keeps_all_it_had() -> None:
    command = Command(update={"messages": [MESSAGE], "x": 1}, goto="there", graph="g", resume={"a": 1})
    assert with_sandbox(command, "sbx-1") == Command(
        update={"messages": [MESSAGE], "x": 1, "sandbox": {"id": "sbx-1"}},
        goto="there",
        graph="g",
        resume={"a": 1},
    )
    assert with_sandbox(Command(goto="x"), "s") == Command(update={"sandbox": {"id": "s"}}, goto="x")


def test_a_command_that_is_no_plain_update_stays() -> None:
    command: Command[None] = Command(update=[("x", 1)])
    assert with_sandbox(command, "sbx-1") is command


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
