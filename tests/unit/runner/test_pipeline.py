"""The table: order, reasons, invariants; and the real rows fused or apart."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware.types import AgentMiddleware

from skerry_api.document import RunDocument
from skerry_runner.agent import Agent, build_agent
from skerry_runner.checkpoint import memory_saver
from skerry_runner.compose.rows import Hook, PipelineError, hooks_of
from skerry_runner.context import RunContext
from skerry_runner.invocation import AgentBuilder, Invocation
from skerry_runner.models.build import BuiltModel
from skerry_runner.models.scripted.cursor import ScriptCursor
from skerry_runner.pipeline import INVARIANTS, ROWS, After, First, Presence, RowSpec, assemble, check_order
from skerry_runner.state import RunnerState
from skerry_runner.tools.catalogue import tools_for
from skerry_testing.runnerworld import RunnerWorld, document


class Custom(AgentMiddleware[Any, Any, Any]):
    """A user's row."""


def custom(present: bool = True) -> RowSpec:
    return RowSpec(
        "Custom", "the user wants it", lambda _: Custom(), lambda _: Presence(present, "set in the profile")
    )


def test_the_rows_in_order() -> None:
    rows = assemble(document())
    assert [row.name for row in rows] == ["RunGate", "ThreadData", "Sandbox", "ToolErrorHandling"]
    assert [row.name for row in rows] == [spec.name for spec in ROWS]
    assert all(spec.why for spec in ROWS)


@pytest.mark.parametrize(
    ("hook", "rows"),
    [
        (Hook.BEFORE_AGENT, ["ThreadData", "Sandbox"]),
        (Hook.BEFORE_MODEL, ["RunGate"]),
        (Hook.WRAP_MODEL_CALL, []),
        (Hook.AFTER_MODEL, ["RunGate"]),
        (Hook.WRAP_TOOL_CALL, ["RunGate", "Sandbox", "ToolErrorHandling"]),
        (Hook.AFTER_AGENT, ["RunGate", "Sandbox"]),
    ],
)
def test_who_takes_part_in_which_hook(hook: Hook, rows: list[str]) -> None:
    assert [row.name for row in assemble(document()) if hook in hooks_of(row)] == rows


def test_a_row_whose_condition_does_not_hold_is_left_out() -> None:
    assert "Custom" not in [row.name for row in assemble(document(), rows=[*ROWS, custom(present=False)])]
    assert assemble(document(), rows=[*ROWS, custom()])[-1].name == "Custom"


def test_a_user_s_row_before_the_first_is_an_error_that_names_both() -> None:
    with pytest.raises(
        PipelineError, match="RunGate and Custom stand in the wrong order: limits are checked"
    ):
        assemble(document(), rows=[custom(), *ROWS])


@pytest.mark.parametrize("invariant", INVARIANTS)
def test_every_invariant_bites(invariant: First | After) -> None:
    names = [row.name for row in ROWS]
    names.remove(invariant.row)
    names.insert(0, invariant.row)
    if isinstance(invariant, First):
        names.reverse()
    with pytest.raises(PipelineError, match=invariant.row):
        check_order(names, [invariant])
    check_order([row.name for row in ROWS], [invariant])
    check_order([], [invariant])


SCRIPT = """
steps:
- toolCalls: [{name: bash, args: {command: one}, id: c1}]
- toolCalls: [{name: bash, args: {command: two}, id: c2}, {name: read_file, args: {path: nowhere}, id: c3}]
- toolCalls: [{name: bash, args: {command: 5}, id: c4}]
- say: ''
- say: done
"""


def apart(document_: RunDocument, built: BuiltModel, checkpointer: Any, _servers: Any = ()) -> Agent:
    return create_agent(
        built.model,
        tools_for(document_.tools),
        system_prompt=document_.system_prompt,
        middleware=[*assemble(document_), ScriptCursor()],
        state_schema=RunnerState,
        context_schema=RunContext,
        checkpointer=checkpointer,
    )


async def played(build: AgentBuilder) -> dict[str, Any]:
    saver = memory_saver()
    async with RunnerWorld() as world:
        invocation = Invocation(
            document(SCRIPT), world.ports(), api_key=None, checkpointer=saver, build=build
        )
        async with invocation.session.hold():
            result = await invocation.run()
        await world.journal.flush()
        (kept,) = [item async for item in saver.alist(None, limit=1)]
        values = kept.checkpoint["channel_values"]
        return {
            "result": result,
            "reports": world.reporter.calls,
            "counters": world.reporter.counters,
            "journal": [event["type"] for event in world.sink.events()],
            "messages": [(m.type, m.text, m.name, sorted(m.additional_kwargs)) for m in values["messages"]],
            **{key: values[key] for key in ("limits", "script", "sandbox")},
        }


async def test_the_real_rows_do_the_same_apart() -> None:
    fused, separate = await played(build_agent), await played(apart)
    assert fused == separate
    assert fused["result"].answer == "done"
    assert fused["journal"].count("tool.result") == 4
