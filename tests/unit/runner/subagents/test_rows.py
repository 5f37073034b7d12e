"""The rows around a subagent, and around the result that the lead gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, tool
from typing_extensions import override

from skerry_runner.checkpoint import memory_saver
from skerry_runner.invocation import Invocation
from skerry_runner.toolservers import NoToolServers
from skerry_testing.runnerworld import RunnerWorld, document

TYPES: list[dict[str, Any]] = [
    {"name": "in", "description": "Knows the wiki."},
    {"name": "out", "description": "Does not.", "mcpTools": False},
]
BOTH = """
steps:
- toolCalls:
  - {name: task, args: {prompt: x, subagent_type: in}, id: t1}
  - {name: task, args: {prompt: y, subagent_type: out}, id: t2}
- {say: done}
"""
WIKI = {"name": "wiki", "transport": "StreamableHTTP", "url": "http://192.0.2.1/mcp"}


@tool
async def wiki_page(name: str) -> str:
    """A page."""
    return f"page {name}"


class OneServer(NoToolServers):
    @override
    async def open(self) -> Sequence[BaseTool]:
        return (wiki_page,)


async def kept(saver: Any) -> dict[str, Any]:
    found = await saver.aget({"configurable": {"thread_id": "ns\nuser\nthread-1", "checkpoint_ns": ""}})
    return dict(found["channel_values"])


async def test_tools_of_servers_are_for_kinds_that_may_have_them(world: RunnerWorld) -> None:
    script = BOTH + (
        "- {agent: in, toolCalls: [{name: wiki_page, args: {name: home}}], expect: {tools: {include: [wiki_page]}}}\n"
        "- {agent: in, say: read, expect: {contains: [page home]}}\n"
        "- {agent: out, say: none, expect: {tools: {include: [ls], exclude: [wiki_page]}}}\n"
    )
    what = document(script, subagents={"enabled": True, "types": TYPES})
    invocation = Invocation(
        what, world.ports(), api_key=None, checkpointer=memory_saver(), servers=lambda _: OneServer()
    )
    async with invocation.session.hold():
        result = await invocation.run()
    assert result.answer == "done", result.outcome


async def test_so_is_the_search_for_deferred_ones(world: RunnerWorld) -> None:
    script = BOTH + (
        "- {agent: in, say: ok, expect: {tools: {include: [tool_search]}}}\n"
        "- {agent: out, say: ok, expect: {tools: {exclude: [tool_search]}}}\n"
    )
    result = await world.run(
        document(script, subagents={"enabled": True, "types": TYPES}, mcp_servers=[WIKI])
    )
    assert result.answer == "done", result.outcome


async def test_a_subagent_that_goes_in_circles_is_stopped_and_the_run_is_not(world: RunnerWorld) -> None:
    saver = memory_saver()
    again = "- {agent: bash, say: again, toolCalls: [{name: ls}]}\n"
    script = (
        "steps:\n- {toolCalls: [{name: task, args: {prompt: x, subagent_type: bash}, id: t1}]}\n- {say: done}\n"
        + again * 5
    )
    result = await world.run(document(script, subagents={"enabled": True}), checkpointer=saver)
    assert (result.answer, result.stop_reason) == ("done", "EndTurn"), result.outcome
    values = await kept(saver)
    (told,) = [message for message in values["messages"] if isinstance(message, ToolMessage)]
    assert (told.additional_kwargs["subagent_status"], told.additional_kwargs["subagent_reason"]) == (
        "completed",
        "LoopCapped",
    )
    assert [event["agent"] for event in world.sink.events("loop.warning", "loop.stop")] == ["bash", "bash"]


async def test_a_long_report_goes_to_a_file_and_keeps_its_status(world: RunnerWorld) -> None:
    saver = memory_saver()
    script = (
        "steps:\n- {toolCalls: [{name: task, args: {prompt: x, subagent_type: bash}, id: t1}]}\n- {say: done}\n"
        "- {agent: bash, toolCalls: [{name: ls}]}\n"
        f"- {{agent: bash, say: {'word ' * 4000}}}\n"
    )
    result = await world.run(document(script, subagents={"enabled": True}), checkpointer=saver)
    assert result.answer == "done", result.outcome
    (told,) = [message for message in (await kept(saver))["messages"] if isinstance(message, ToolMessage)]
    assert told.additional_kwargs["subagent_status"] == "completed"
    assert told.additional_kwargs["subagent_usage"]["total"] > 0
    assert len(told.text) < 5000
    (path,) = [path for path in world.provider.sandbox.files if "/outputs/" in path]
    assert path in told.text
    assert world.provider.sandbox.files[path].decode().startswith("word word")


async def test_what_the_run_may_not_do_its_subagents_may_not_do(world: RunnerWorld) -> None:
    script = (
        "steps:\n- {toolCalls: [{name: task, args: {prompt: x, subagent_type: bash}, id: t1}]}\n- {say: done}\n"
        "- {agent: bash, toolCalls: [{name: bash, args: {command: rm -rf /}}, {name: ls}]}\n"
        "- {agent: bash, say: refused, expect: {contains: [bash .error., ls .error.]}}\n"
    )
    rules = {"deny": ["ls"]}
    result = await world.run(document(script, subagents={"enabled": True}, guardrail=rules))
    assert result.answer == "done", result.outcome
    assert world.provider.sandbox.commands == []
    told = {event["type"]: event["agent"] for event in world.sink.events("audit.command", "guardrail")}
    assert told == {"audit.command": "bash", "guardrail": "bash"}
