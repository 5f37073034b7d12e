"""Fused rows do what the same rows do as separate middlewares: states, messages, order; with fewer checkpoints."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents.middleware.types import hook_config
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from typing_extensions import override

from skerry_testing.tracedrows import NodeEffect, Trace, Traced, no_row, play

SCRIPT = (
    "steps: [{say: a, toolCalls: [{name: look, args: {where: x}, id: c1}, {name: look, args: {where: y}, id: c2}]}, "
    "{say: b}, {say: c}]"
)


class Jumping(Traced):
    """Declares its jumps, as LangChain wants it."""

    @hook_config(can_jump_to=["end"])
    @override
    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return await super().abefore_model(state, runtime)

    @hook_config(can_jump_to=["model", "end"])
    @override
    async def aafter_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return await super().aafter_model(state, runtime)


def bounce_once(state: Any) -> dict[str, Any] | None:
    last = state["messages"][-1]
    if isinstance(last, AIMessage) and last.text == "b":
        return {"messages": [HumanMessage("again", id="h2")], "jump_to": "model", "log": ["bounced"]}
    return None


def stop_at_second(state: Any) -> dict[str, Any] | None:
    return {"jump_to": "end", "log": ["stopped"]} if len(state["messages"]) > 1 else None


def replace_all(state: Any) -> dict[str, Any]:
    kept = [m for m in state["messages"] if m.id == "h1"]
    return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), HumanMessage("sum", id="s1"), *kept]}


def add(text: str, id_: str) -> NodeEffect:
    return lambda _: {"messages": [HumanMessage(text, id=id_)], "total": 100}


def remove(id_: str) -> NodeEffect:
    return lambda state: (
        {"messages": [RemoveMessage(id=id_)]} if any(m.id == id_ for m in state["messages"]) else None
    )


CASES: dict[str, dict[str, dict[str, NodeEffect]]] = {
    "every hook writes": {},
    "a row sees and edits what the row before it added": {
        "A": {"before_agent": add("one", "x1")},
        "B": {"before_agent": add("two", "x1")},
        "C": {"before_agent": add("three", "x2")},
    },
    "removed and added again goes to the end": {
        "A": {"before_agent": add("keep", "x0")},
        "B": {"before_agent": remove("h1")},
        "C": {"before_agent": add("go", "h1")},
    },
    "history replaced between two rows": {
        "A": {"before_model": add("before", "x1")},
        "B": {"before_model": replace_all},
        "C": {"before_model": add("after", "x2")},
    },
    "a jump to the end stops the chain": {"B": {"before_model": stop_at_second}},
    "a jump to the model stops the chain": {"B": {"after_model": bounce_once}},
    "rows without an update": {"A": {"before_model": no_row}, "C": {"after_model": no_row, "before_agent": no_row}},
}  # fmt: skip


def strand(trace: Trace, call: str) -> Trace:
    """What one tool call leaves, or what is not of a tool call."""
    return [entry for entry in trace if (entry.endswith(call) if call else ".tool " not in entry)]


@pytest.mark.parametrize("case", CASES)
async def test_fused_and_separate_agree(case: str) -> None:
    effects = CASES[case]
    seen: list[tuple[dict[str, Any], Trace]] = []
    for fused in (False, True):
        trace: Trace = []
        rows = [Jumping(label, trace, effects.get(label)) for label in "ABC"]
        seen.append((await play(rows, SCRIPT, fused=fused), trace))
    (separate, separate_trace), (fused_state, fused_trace) = seen
    fewer, more = fused_state.pop("checkpoints"), separate.pop("checkpoints")
    assert fused_state == separate
    # Calls of one turn run side by side: how they interleave is nobody's contract.
    for call in (" c1", " c2", ""):
        assert strand(fused_trace, call) == strand(separate_trace, call)
    assert 0 < fewer < more


async def test_the_order_is_the_contract() -> None:
    trace: Trace = []
    rows = [Traced(label, trace) for label in "AB"]
    await play(rows, "steps: [{toolCalls: [{name: look, args: {where: x}, id: c1}]}, {say: b}]", fused=True)
    assert [" ".join(entry.split(" ")[:2]).split(" log")[0] for entry in trace] == [
        "A.before_agent", "B.before_agent",
        "A.before_model", "B.before_model", "A.model in", "B.model in", "B.model out", "A.model out",
        "B.after_model", "A.after_model", "A.tool in", "B.tool in", "B.tool out", "A.tool out",
        "A.before_model", "B.before_model", "A.model in", "B.model in", "B.model out", "A.model out",
        "B.after_model", "A.after_model", "B.after_agent", "A.after_agent",
    ]  # fmt: skip
