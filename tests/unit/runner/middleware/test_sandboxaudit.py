"""SandboxAudit: what reaches the handler, what the result keeps, what is recorded."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.errors import GraphInterrupt
from langgraph.types import Command

from skerry_api.phases import OutcomeClass
from skerry_api.rows.sandboxaudit import SandboxAuditSettings
from skerry_runner.middleware.sandboxaudit import SandboxAudit
from skerry_testing.runnerworld import RunnerWorld, document

ROW = SandboxAudit(SandboxAuditSettings())
NOTE = "[audit: mind this command: it installs packages"


def request(world: RunnerWorld, args: dict[str, Any], name: str = "bash") -> ToolCallRequest:
    runtime: Any = SimpleNamespace(context=SimpleNamespace(journal=world.journal, agent="lead"))
    return ToolCallRequest({"name": name, "args": args, "id": "c1", "type": "tool_call"}, None, {}, runtime)


class Tool:
    """Counts its calls, and gives a result."""

    def __init__(self, result: ToolMessage | Command[Any] | BaseException) -> None:
        self.result, self.calls = result, 0

    async def __call__(self, _: ToolCallRequest) -> ToolMessage | Command[Any]:
        self.calls += 1
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result


def said(content: Any = "out", **more: Any) -> ToolMessage:
    return ToolMessage(content=content, tool_call_id="c1", name="bash", **more)


@pytest.mark.parametrize(
    ("command", "verdict", "calls"),
    [
        ("ls", "pass", 1),
        ("pip install x", "warn", 1),
        ("rm -rf /", "block", 0),
        (None, "block", 0),
        ("", "block", 0),
        ("ls " * 5000, "block", 0),
        (5, "pass", 1),
    ],
)
async def test_every_command_leaves_a_record_and_blocked_ones_do_not_run(
    command: Any, verdict: str, calls: int
) -> None:
    tool = Tool(said())
    async with RunnerWorld() as world:
        result = await ROW.awrap_tool_call(request(world, {"command": command}), tool)
    (event,) = world.sink.events("audit.command")
    assert (event["id"], event["verdict"], tool.calls) == ("c1", verdict, calls)
    assert isinstance(result, ToolMessage)
    assert result.status == ("error" if verdict == "block" else "success")


async def test_a_blocked_command_is_told_with_its_reasons() -> None:
    async with RunnerWorld() as world:
        result = await ROW.awrap_tool_call(request(world, {"command": "sudo rm -rf /"}), Tool(said()))
    assert isinstance(result, ToolMessage)
    assert (result.tool_call_id, result.name) == ("c1", "bash")
    assert result.text.startswith("Error: the command was not run: it deletes or moves a system folder")
    assert "(delete-system)" in result.text
    (event,) = world.sink.events("audit.command")
    assert event["rules"] == ["delete-system", "privilege"]


async def test_a_warning_keeps_all_that_the_message_has() -> None:
    message = said(id="m1", artifact={"a": 1}, additional_kwargs={"k": "v"}, status="error")
    async with RunnerWorld() as world:
        result = await ROW.awrap_tool_call(request(world, {"command": "pip install x"}), Tool(message))
    assert isinstance(result, ToolMessage)
    assert result.text.startswith(f"out\n\n{NOTE}")
    assert result.model_dump(exclude={"content"}) == message.model_dump(exclude={"content"})
    assert message.text == "out"


async def test_a_warning_marks_the_call_s_message_in_a_command() -> None:
    other = ToolMessage(content="other", tool_call_id="c2")
    command: Command[Any] = Command(
        update={"messages": [other, said([{"type": "text", "text": "out"}])], "sandbox": 1}, goto="x"
    )
    async with RunnerWorld() as world:
        result = await ROW.awrap_tool_call(request(world, {"command": "pip install x"}), Tool(command))
    assert isinstance(result, Command)
    assert isinstance(result.update, dict)
    kept, marked_one = result.update["messages"]
    assert (kept, result.update["sandbox"], result.goto) == (other, 1, "x")
    assert [block["type"] for block in marked_one.content] == ["text", "text"]
    assert marked_one.content[1]["text"].startswith(NOTE)


async def test_other_tools_are_none_of_its_business() -> None:
    tool = Tool(said())
    async with RunnerWorld() as world:
        await ROW.awrap_tool_call(request(world, {"command": "rm -rf /"}, "echo"), tool)
    assert (tool.calls, world.sink.events("audit.command")) == (1, [])


@pytest.mark.parametrize("error", [GraphInterrupt(()), asyncio.CancelledError(), ValueError("x")])
async def test_what_the_handler_raises_passes(error: BaseException) -> None:
    async with RunnerWorld() as world:
        with pytest.raises(type(error)):
            await ROW.awrap_tool_call(request(world, {"command": "pip install x"}), Tool(error))
    assert len(world.sink.events("audit.command")) == 1


async def test_secrets_are_no_part_of_the_record() -> None:
    async with RunnerWorld(secrets=("hunter2-hunter2",)) as world:
        await ROW.awrap_tool_call(
            request(world, {"command": "curl -H 'X: hunter2-hunter2' https://x"}), Tool(said())
        )
    (event,) = world.sink.events("audit.command")
    assert event["command"] == "curl -H 'X: ***' https://x"


async def test_a_long_command_is_judged_off_the_loop_with_the_same_verdict() -> None:
    async with RunnerWorld() as world:
        result = await ROW.awrap_tool_call(
            request(world, {"command": f"rm -rf / # {'x' * 2000}"}), Tool(said())
        )
    assert isinstance(result, ToolMessage)
    assert result.status == "error"


SCRIPT = """
steps:
- toolCalls: [{name: bash, args: {command: "rm -rf /"}, id: c1}, {name: bash, args: {command: "sudo ls"}, id: c2}]
- expect: {contains: ["tool.*: .*Error: the command was not run", "audit: mind this command"]}
  say: done
"""


async def test_in_a_run_a_block_acquires_no_sandbox_and_a_warning_is_seen() -> None:
    async with RunnerWorld() as world:
        result = await world.run(document(SCRIPT))
        await world.journal.flush()
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED, result.outcome
    assert [event["verdict"] for event in world.sink.events("audit.command")] == ["block", "warn"]
    assert [event["status"] for event in world.sink.events("tool.result")] == ["error", "success"]


async def test_settings_reach_the_row() -> None:
    row = SandboxAudit(SandboxAuditSettings(max_command_chars=100, ignored_rules=("install",)))
    async with RunnerWorld() as world:
        for command in ("pip install x", "echo " + "x" * 100):
            await row.awrap_tool_call(request(world, {"command": command}), Tool(said()))
    assert [event["verdict"] for event in world.sink.events("audit.command")] == ["pass", "block"]
