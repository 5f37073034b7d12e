"""DanglingToolCall in runs: what is sent, what is run, and that the history keeps what it had."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from skerry_api.phases import OutcomeClass, StopReason
from skerry_runner.checkpoint import memory_saver
from skerry_runner.messages import HIDDEN
from skerry_runner.models.scripted.model import ScriptedModel
from skerry_runner.sandbox.types import ExecResult
from skerry_testing.fakesandbox import Command
from skerry_testing.modelrows import play
from skerry_testing.runnerworld import RunnerWorld, document


def requests(world: RunnerWorld) -> list[list[str]]:
    return [[m["role"] for m in e["messages"]] for e in world.sink.events("model.request")]


async def test_a_call_that_a_crash_left_open_is_answered_in_the_request_alone(world: RunnerWorld) -> None:
    saver = memory_saver()

    running = asyncio.Event()

    async def hang(_: Command) -> ExecResult:
        running.set()
        await asyncio.Event().wait()
        raise AssertionError

    world.provider.sandbox.shell = hang
    first = document("steps: [{toolCalls: [{name: bash, args: {command: a}, id: c1}]}]")
    crashed = asyncio.create_task(play(world, first, saver=saver))
    await running.wait()
    crashed.cancel()
    await asyncio.wait({crashed})
    assert crashed.cancelled()
    script = (
        "steps:\n- expect: {contains: ['tool: bash .error.: Error: this call was interrupted']}\n  say: a\n"
        "- say: never\n"
    )
    result = await play(world, document(script, run="run-uid-2", prompt="And now?"), saver=saver)
    assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "a"), result.outcome
    sent = requests(world)[-1]
    assert [role for role in sent if role != "human"] == ["system", "ai", "tool"]
    assert sent[sent.index("ai") + 1 :] == ["tool", "human"]
    (kept,) = [item async for item in saver.alist(None, limit=1)]
    messages = kept.checkpoint["channel_values"]["messages"]
    roles = [message.type for message in messages if not message.additional_kwargs.get(HIDDEN)]
    assert roles == ["human", "ai", "human", "ai"]


async def test_broken_calls_alone_go_back_to_the_model_even_beside_a_text(world: RunnerWorld) -> None:
    script = (
        "steps:\n"
        '- {say: "I will write it.", invalidToolCalls: [{name: write_file, args: \'{"path": "/a\', id: c1, error: cut}]}\n'
        "- expect: {contains: ['tool: write_file .error.: .*complete JSON object .cut.. Do not send'], lastRole: tool}\n"
        "  say: sorry\n"
    )
    result = await play(world, document(script))
    assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "sorry"), result.outcome
    assert (result.progress.turn, result.progress.tool_calls) == (2, 0)


async def test_nothing_but_broken_calls_ends_at_the_turns(world: RunnerWorld) -> None:
    steps = ", ".join("{invalidToolCalls: [{name: ls, args: '{'}]}" for _ in range(3))
    result = await play(world, document(f"steps: [{steps}]", max_turns=3))
    assert (result.outcome.class_, result.stop_reason) == (OutcomeClass.SUCCEEDED, StopReason.TURN_CAPPED)


@pytest.mark.parametrize("disable_streaming", [True, False])
async def test_a_call_cut_by_length_is_not_run_but_those_before_it_are(
    world: RunnerWorld, disable_streaming: bool
) -> None:
    script = (
        "steps:\n- finishReason: length\n  toolCalls:\n"
        "  - {name: bash, args: {command: one}, id: c1}\n"
        "  - {name: write_file, args: {path: /mnt/user-data/outputs/a, content: hal}, id: c2}\n"
        "- expect: {contains: ['tool: bash .success.: one', 'tool: write_file .error.: .*limit of tokens.*smaller calls']}\n"
        "  say: ok\n"
    )
    result = await play(
        world, document(script, parameters={"disable_streaming": json.dumps(disable_streaming)})
    )
    assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "ok"), result.outcome
    assert [command.command for command in world.provider.sandbox.commands] == ["one"]


async def test_calls_of_one_id_are_run_each_for_itself(world: RunnerWorld) -> None:
    script = (
        "steps:\n- toolCalls: [{name: bash, args: {command: one}, id: c1}, {name: bash, args: {command: two}, id: c1}]\n"
        "- expect: {contains: ['tool: bash .success.: one', 'tool: bash .success.: two']}\n  say: ok\n"
    )
    result = await play(world, document(script))
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED, result.outcome
    commands = world.provider.sandbox.commands
    assert sorted(command.command for command in commands) == ["one", "two"]
    assert len({command.key for command in commands}) == 2
    assert len({event["id"] for event in world.sink.events("tool.result")}) == 2


@pytest.mark.parametrize("name", ["''", "no_such_tool", "'no such tool'"])
async def test_a_call_of_no_tool_is_told_to_the_model(world: RunnerWorld, name: str) -> None:
    script = (
        f"steps:\n- toolCalls: [{{name: {name}, id: c1}}]\n"
        "- expect: {contains: ['tool: (unknown_tool|no_such_tool) .error.: '], lastRole: tool}\n  say: ok\n"
    )
    result = await play(world, document(script))
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED, result.outcome


async def test_an_id_that_comes_again_in_a_later_turn_keeps_its_own_results(world: RunnerWorld) -> None:
    script = (
        "steps:\n- toolCalls: [{name: bash, args: {command: one}, id: c1}]\n"
        "- toolCalls: [{name: bash, args: {command: two}, id: c1}]\n"
        "- expect: {contains: ['(?s)success.: one.*success.: two']}\n  say: ok\n"
    )
    result = await play(world, document(script))
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED, result.outcome
    assert [command.command for command in world.provider.sandbox.commands] == ["one", "two"]


async def test_a_request_that_is_well_is_passed_on_as_it_is() -> None:
    from langchain.agents.middleware.types import ModelRequest, ModelResponse

    from skerry_api.rows.danglingtoolcall import DanglingToolCallSettings
    from skerry_runner.middleware.danglingtoolcall import DanglingToolCall
    from skerry_runner.models.scripted.parse import parse_script
    from skerry_runner.models.scripted.playhead import Playhead

    model = ScriptedModel(playhead=Playhead(parse_script("steps: []", source="s"), "r"))
    row = DanglingToolCall(DanglingToolCallSettings())
    seen: list[ModelRequest[Any]] = []
    answer = ModelResponse(result=[AIMessage("yes")], structured_response=5)

    async def handler(request: ModelRequest[Any]) -> ModelResponse[Any]:
        seen.append(request)
        return answer

    call: Any = {"name": "ls", "args": {}, "id": "1"}
    well: ModelRequest[Any] = ModelRequest(model=model, messages=[HumanMessage("go")])
    assert await row.awrap_model_call(well, handler) is answer
    assert seen == [well]
    assert seen[0] is well
    ill: ModelRequest[Any] = ModelRequest(
        model=model, messages=[HumanMessage("go"), AIMessage("", tool_calls=[call])]
    )
    await row.awrap_model_call(ill, handler)
    assert [type(message) for message in seen[1].messages] == [HumanMessage, AIMessage, ToolMessage]
    assert len(ill.messages) == 2
