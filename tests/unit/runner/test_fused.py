"""The real rows fused into one middleware and as middlewares of their own: the same run, to the last message."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent

from skerry_api.document import RunDocument
from skerry_runner.agent import Agent, build_agent
from skerry_runner.checkpoint import memory_saver
from skerry_runner.context import RunContext
from skerry_runner.invocation import AgentBuilder, Invocation
from skerry_runner.models.build import BuiltModel
from skerry_runner.models.scripted.cursor import ScriptCursor
from skerry_runner.pipeline import assemble
from skerry_runner.state import RunnerState
from skerry_runner.tools.catalogue import tools_for
from skerry_testing.runnerworld import RunnerWorld, document

OPEN = "{name: write_todos, args: {todos: [{content: write, status: in_progress}]}}"
DONE = "{name: write_todos, args: {todos: [{content: write, status: completed}]}}"
TASK = "{name: task, args: {description: dig, prompt: Dig., subagent_type: general-purpose}}"
LOOK = "{say: looking, toolCalls: [{name: ls}]}"
PLAN = {"todoList": {"enabled": True}, "title": {"model": "scripted"}}
RUNS: dict[str, RunDocument] = {
    "warned, put off, done": document(
        f"steps: [{{toolCalls: [{OPEN}]}}, {LOOK}, {LOOK}, {LOOK}, {{say: early}}, {{toolCalls: [{DONE}]}}, {{say: done}}, {{purpose: title, say: Work}}]",
        pipeline=PLAN,
    ),
    "stopped in a loop with open todos": document(
        f"steps: [{{toolCalls: [{OPEN}]}}, {', '.join([LOOK] * 5)}]", pipeline=PLAN
    ),
    "stopped for safety": document(
        f"steps: [{LOOK}, {{say: nope, toolCalls: [{{name: ls}}], finishReason: content_filter}}]", pipeline=PLAN
    ),
    "out of tokens": document(
        f"steps: [{LOOK}, {{toolCalls: [{{name: bash, args: {{command: make}}}}], usage: {{input: 900, output: 99}}}}]",
        max_tokens=999,
    ),
    "subagents, then no more of them": document(
        f"steps: [{{toolCalls: [{TASK}, {TASK}], usage: {{input: 3, output: 1}}}}, {{toolCalls: [{TASK}]}}, {{agent: general-purpose, say: found, usage: {{input: 9, output: 1}}}}]",
        subagents={"enabled": True}, pipeline={"subagentLimit": {"maxTotal": 2}},
    ),
    "summarised, with a row of one's own": document(
        f"""
steps:
- toolCalls: [{OPEN}]
- toolCalls: [{{name: bash, args: {{command: one}}, id: c1}}]
- toolCalls: [{{name: bash, args: {{command: two}}, id: c2}}, {{name: read_file, args: {{path: nowhere}}, id: c3}}]
- toolCalls: [{{name: bash, args: {{command: 5}}, id: c4}}]
- say: ''
- say: early
- toolCalls: [{DONE}]
- say: done
- {{purpose: summary, say: It went well so far.}}
- {{purpose: summary, say: It still goes well.}}
- {{purpose: summary, say: It always goes well.}}
""",
        vision=True,
        guardrail={"deny": ["read_file"]},
        pipeline={
            **PLAN, "memory": {"enabled": True},
            "summarization": {"enabled": True, "trigger": [{"messages": 6}], "keep": {"messages": 3}},
            "custom": [{"path": "skerry_testing.customrows:Polite", "settings": {"word": "please"}}],
        },
    ),
    "silent, then failing": document(f"steps: [{LOOK}, {{say: ''}}, {{error: {{status: 401}}}}]"),
}  # fmt: skip
REASONS = {
    "warned, put off, done": "EndTurn",
    "stopped in a loop with open todos": "LoopCapped",
    "stopped for safety": "SafetyCapped",
    "out of tokens": "TokenCapped",
    "subagents, then no more of them": "SubagentCapped",
    "summarised, with a row of one's own": "EndTurn",
    "silent, then failing": None,
}


def apart(given: RunDocument, built: BuiltModel, checkpointer: Any, _servers: Any = ()) -> Agent:
    return create_agent(
        built.model,
        tools_for(given.tools),
        system_prompt=given.system_prompt,
        middleware=[*assemble(given), ScriptCursor()],
        state_schema=RunnerState,
        context_schema=RunContext,
        checkpointer=checkpointer,
    )


async def played(given: RunDocument, build: AgentBuilder) -> dict[str, Any]:
    saver = memory_saver()
    async with RunnerWorld() as world:
        invocation = Invocation(given, world.ports(), api_key=None, checkpointer=saver, build=build)
        async with invocation.session.hold():
            result = await invocation.run()
        await world.journal.flush()
        newest = await saver.aget(
            {"configurable": {"thread_id": f"ns\nuser\n{given.thread_id}", "checkpoint_ns": ""}}
        )
        assert newest is not None
        values = newest["channel_values"]
        return {
            "result": result,
            "reports": world.reporter.calls,
            "counters": [counters for counters, _ in world.reporter.counters][-1],
            "journal": sorted((event["agent"], event["type"]) for event in world.sink.events()),
            "messages": [
                (m.type, m.text, m.name, getattr(m, "tool_calls", None), sorted(m.additional_kwargs))
                for m in values["messages"]
            ],
            "notes": [m.additional_kwargs.get("token_usage", {}).get("usage") for m in values["messages"]],
            **{
                key: values.get(key)
                for key in ("limits", "script", "sandbox", "todos", "title", "loops", "stop")
            },
        }


@pytest.mark.parametrize("name", RUNS)
async def test_fused_or_apart_it_is_the_same_run(name: str) -> None:
    fused, separate = await played(RUNS[name], build_agent), await played(RUNS[name], apart)
    assert fused == separate
    assert fused["result"].stop_reason == REASONS[name], fused["result"].outcome
    assert (("lead", "summary") in fused["journal"]) is name.startswith("summarised")
