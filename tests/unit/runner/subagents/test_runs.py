"""Subagents through the real graph: side by side, in one sandbox, within their bounds, each ended once."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.messages import ToolMessage

from skerry_api.document import RunDocument
from skerry_api.phases import OutcomeClass
from skerry_api.toolname import ToolName
from skerry_runner.checkpoint import memory_saver
from skerry_runner.pipeline import assemble
from skerry_runner.ports import CancelReason
from skerry_runner.sandbox.types import ExecResult
from skerry_runner.subagents.kinds import kinds_for
from skerry_runner.tools.task import task_tool
from skerry_testing.fakesandbox import Command, printed
from skerry_testing.rowrun import play
from skerry_testing.runnerworld import RunnerWorld, document

CRITIC: dict[str, Any] = {"name": "critic", "description": "Finds faults.", "timeoutSeconds": 600}
TWO = """
- toolCalls:
  - {name: task, args: {prompt: find A, subagent_type: bash, description: A}, id: t1}
  - {name: task, args: {prompt: find B, subagent_type: bash}, id: t2}
"""
ONE = "- {toolCalls: [{name: task, args: {prompt: find A, subagent_type: critic}, id: t1}]}\n"


def delegating(steps: str, *, critic: dict[str, Any] | None = None, **given: Any) -> RunDocument:
    types = [CRITIC | (critic or {})]
    return document("steps:\n" + steps, subagents={"enabled": True, "types": types}, **given)


async def result_of(saver: Any, call_id: str) -> ToolMessage:
    """The result of a call as the thread keeps it."""
    kept = await saver.aget({"configurable": {"thread_id": "ns\nuser\nthread-1", "checkpoint_ns": ""}})
    (found,) = [
        message
        for message in kept["channel_values"]["messages"]
        if isinstance(message, ToolMessage) and message.tool_call_id == call_id
    ]
    return found


async def test_two_work_side_by_side_in_one_sandbox(world: RunnerWorld) -> None:
    both, saver = asyncio.Barrier(2), memory_saver()

    async def together(command: Command) -> ExecResult:
        if command.command.startswith("find"):
            await both.wait()  # Neither ends before the other has begun.
        return printed(command.command)

    world.provider.sandbox.shell = together
    steps = TWO + (
        "- {expect: {contains: ['task .success.: A is here', 'task .success.: B is here']},"
        " toolCalls: [{name: bash, args: {command: after}}], usage: {input: 5, output: 1}}\n"
        "- {say: done}\n"
        "- {agent: bash, task: A$, toolCalls: [{name: bash, args: {command: find a}}], usage: {input: 10, output: 1}}\n"
        "- {agent: bash, task: B$, toolCalls: [{name: bash, args: {command: find b}}], usage: {input: 20, output: 2}}\n"
        "- {agent: bash, task: A$, say: A is here, usage: {input: 30, output: 3},"
        " expect: {absent: ['Please do it', 'find B'], tools: {include: [bash], exclude: [task, glob]}}}\n"
        "- {agent: bash, task: B$, say: B is here, usage: {input: 40, output: 4}}\n"
    )
    result = await world.run(delegating(steps), checkpointer=saver)
    assert result.answer == "done", result.outcome
    # Their turns are not the run's; their calls and tokens are.
    assert (result.progress.turn, result.progress.model_calls, result.progress.tool_calls) == (3, 7, 5)
    assert result.usage.input >= 105
    assert len(world.sink.events("sandbox.acquired")) == len(world.sink.events("sandbox.released")) == 1
    assert [command.command for command in world.provider.sandbox.commands][2:] == ["after"]
    ends = {event["call"]: event for event in world.sink.events("subagent.end")}
    assert {call: (end["status"], end["steps"], end["usage"]["total"]) for call, end in ends.items()} == {
        "t1": ("completed", 2, 44), "t2": ("completed", 2, 66),
    }  # fmt: skip
    assert (await result_of(saver, "t2")).additional_kwargs["subagent_usage"] == {
        "input": 60,
        "output": 6,
        "total": 66,
    }
    assert world.sink.events("script.unused") == []


async def test_what_is_a_subagent_s_stays_its_own(world: RunnerWorld) -> None:
    saver = memory_saver()
    steps = (
        ONE
        + "- {say: done}\n- {agent: critic, toolCalls: [{name: bash, args: {command: look}, id: own}]}\n- {agent: critic, say: seen}"
    )
    plan = {"todoList": {"enabled": True}}
    await world.run(delegating(steps, pipeline=plan), checkpointer=saver)
    kept = await saver.aget({"configurable": {"thread_id": "ns\nuser\nthread-1", "checkpoint_ns": ""}})
    assert kept is not None
    values = kept["channel_values"]
    assert [m.type for m in values["messages"]] == ["human", "human", "ai", "tool", "ai"]
    assert values["sandbox"] == {"id": "sbx-1"}
    assert not {"todos", "artifacts", "stop"} & set(values)
    assert values["limits"]["run-uid-1"]["turns"] == 2
    seen = {
        (event["agent"], event["type"]) for event in world.sink.events() if event["type"].startswith("tool.")
    }
    assert seen == {
        ("lead", "tool.call"),
        ("lead", "tool.result"),
        ("critic", "tool.call"),
        ("critic", "tool.result"),
    }
    (start,), (end,) = world.sink.events("subagent.start"), world.sink.events("subagent.end")
    assert start["agent"] == end["agent"] == "critic"
    steps_told = world.sink.events("subagent.step")
    assert [(s["id"], s["step"], [c["id"] for c in s["toolCalls"]]) for s in steps_told] == [
        (start["id"], 1, ["own"]), (start["id"], 2, []),
    ]  # fmt: skip
    assert world.provider.sandbox.commands[0].key.startswith(f"run-uid-1~{start['id']}~")


async def test_beyond_the_limit_they_wait_for_their_turn(world: RunnerWorld) -> None:
    steps = TWO + "- {say: done}\n- {agent: bash, toolCalls: [{name: ls}]}\n- {agent: bash, say: ok}"
    made = delegating(steps, pipeline={"subagentLimit": {"maxConcurrent": 1}})
    rows = [row for row in assemble(made) if row.name != "SubagentLimit"]
    played = await play(world, made, rows, tools=[task_tool(kinds_for(made), 1, 6)])
    assert played.result.answer == "done", played.result.outcome
    order = [e["type"] for e in world.sink.events("subagent.start", "subagent.end")]
    assert order == ["subagent.start", "subagent.end"] * 2


async def test_every_execution_plays_its_steps_from_the_first(world: RunnerWorld) -> None:
    steps = TWO + (
        "- toolCalls: [{name: task, args: {prompt: find C, subagent_type: bash}, id: t3}]\n"
        "- {say: done}\n- {agent: bash, toolCalls: [{name: ls}]}\n- {agent: bash, say: ok}"
    )
    result = await world.run(delegating(steps))
    assert result.answer == "done", result.outcome
    assert [end["steps"] for end in world.sink.events("subagent.end")] == [2, 2, 2]
    calls = [e["id"] for e in world.sink.events("tool.call") if e["agent"] == "bash"]
    assert len(set(calls)) == len(calls) == 3


async def test_a_cancelled_run_ends_its_subagents(world: RunnerWorld) -> None:
    running = asyncio.Semaphore(0)

    async def hang(_: Command) -> ExecResult:
        running.release()
        await asyncio.Event().wait()
        raise AssertionError

    world.provider.sandbox.shell = hang
    steps = TWO + "- {agent: bash, toolCalls: [{name: bash, args: {command: make}}]}"
    task = asyncio.create_task(world.run(delegating(steps)))
    for _ in range(2):
        await running.acquire()
    world.cancellation.request(CancelReason.CANCELLED)
    result = await task
    assert result.outcome.class_ is OutcomeClass.CANCELLED
    assert world.provider.sandbox.killed == ["make", "make"]
    assert [end["status"] for end in world.sink.events("subagent.end")] == ["cancelled", "cancelled"]
    types = [event["type"] for event in world.sink.events()]
    assert types.count("sandbox.released") == 1
    assert types.index("sandbox.released") > max(i for i, t in enumerate(types) if t == "subagent.end")


async def test_time_ends_it_and_the_run_goes_on(world: RunnerWorld) -> None:
    saver = memory_saver()

    async def hang(command: Command) -> ExecResult:
        if command.command == "make":
            await asyncio.Event().wait()
        return printed("ok")

    world.provider.sandbox.shell = hang
    steps = ONE + (
        "- {expect: {contains: ['not done within 1 s', 'I make it']}, toolCalls: [{name: bash, args: {command: ls}}]}\n"
        "- {say: done}\n- {agent: critic, say: I make it, toolCalls: [{name: bash, args: {command: make}}]}"
    )
    result = await world.run(delegating(steps, critic={"timeoutSeconds": 1}), checkpointer=saver)
    assert result.answer == "done", result.outcome
    assert world.provider.sandbox.killed == ["make"]
    told = await result_of(saver, "t1")
    assert (told.status, told.additional_kwargs["subagent_status"]) == ("error", "timed_out")
    assert [end["status"] for end in world.sink.events("subagent.end")] == ["timed_out"]
    assert len(world.sink.events("sandbox.acquired")) == 1


async def test_turns_end_it(world: RunnerWorld) -> None:
    saver = memory_saver()
    steps = ONE + "- {say: done}\n- {agent: critic, say: I look, toolCalls: [{name: ls}]}"
    result = await world.run(delegating(steps, critic={"maxTurns": 1}), checkpointer=saver)
    assert (result.answer, result.progress.turn) == ("done", 2)
    told = (await result_of(saver, "t1")).additional_kwargs
    assert (told["subagent_status"], told["subagent_reason"]) == ("completed", "TurnCapped")


async def test_tokens_end_it_and_the_run_goes_on(world: RunnerWorld) -> None:
    saver = memory_saver()
    look = "- {agent: critic, say: I look, usage: {input: 60, output: 40}, toolCalls: [{name: ls}]}\n"
    steps = ONE + "- {say: done}\n" + 3 * look
    result = await world.run(delegating(steps, critic={"maxTokens": 150}), checkpointer=saver)
    assert result.answer == "done", result.outcome
    assert result.usage.subagents == 200, "the call that goes over it is the last"
    told = (await result_of(saver, "t1")).additional_kwargs
    assert (told["subagent_status"], told["subagent_reason"]) == ("completed", "TokenCapped")
    (start,) = world.sink.events("subagent.start")
    assert start["maxTokens"] == 150


async def test_an_unknown_type_costs_nothing(world: RunnerWorld) -> None:
    saver = memory_saver()
    steps = (
        "- {toolCalls: [{name: task, args: {prompt: x, subagent_type: poet}, id: t1}, {name: task, args: {}, id: t2}]}\n"
        "- {expect: {contains: [\"there is no subagent of type 'poet'; types: general-purpose, bash, critic\"]}, say: done}"
    )
    result = await world.run(delegating(steps), checkpointer=saver)
    assert result.answer == "done", result.outcome
    for call in ("t1", "t2"):
        told = await result_of(saver, call)
        assert (told.status, told.additional_kwargs) == ("error", {"subagent_status": "failed"})
    assert world.sink.events("subagent.start") == []


async def test_a_script_that_does_not_fit_a_subagent_fails_the_run(world: RunnerWorld) -> None:
    result = await world.run(delegating(ONE + "- {say: done}\n- {agent: critic, task: never, say: x}"))
    assert (result.outcome.class_, result.outcome.reason) == (OutcomeClass.APP_ERROR, "ScriptMismatch")
    (end,) = world.sink.events("subagent.end")
    assert (end["status"], end["reason"]) == ("failed", "ScriptMismatch")


async def test_a_subagent_can_neither_delegate_nor_present(world: RunnerWorld) -> None:
    steps = ONE + (
        "- {say: done}\n"
        "- {agent: critic, toolCalls: [{name: task, args: {prompt: x, subagent_type: bash}},"
        " {name: present_files, args: {filepaths: [/mnt/user-data/outputs/a]}}]}\n"
        "- {agent: critic, say: ok, expect: {contains: ['task .error.', 'present_files .error.']}}"
    )
    result = await world.run(delegating(steps, tools=list(ToolName)))
    assert result.answer == "done", result.outcome
    assert len(world.sink.events("subagent.start")) == 1


async def test_what_ends_the_run_ends_the_siblings(world: RunnerWorld) -> None:
    running = asyncio.Event()

    async def shell(command: Command) -> ExecResult:
        if command.command == "make":
            running.set()
            await asyncio.Event().wait()
        await running.wait()
        return printed("ok")

    world.provider.sandbox.shell = shell
    steps = TWO + (
        "- {agent: bash, task: A$, toolCalls: [{name: bash, args: {command: make}}]}\n"
        "- {agent: bash, task: B$, toolCalls: [{name: bash, args: {command: wait}}]}\n"
        "- {agent: bash, task: B$, expect: {contains: [nowhere]}}"
    )
    result = await world.run(delegating(steps))
    assert result.outcome.reason == "ScriptMismatch"
    assert world.provider.sandbox.killed == ["make"]
    ends = {event["call"]: event["status"] for event in world.sink.events("subagent.end")}
    assert ends == {"t1": "cancelled", "t2": "failed"}
    assert len(world.sink.events("sandbox.released")) == 1
