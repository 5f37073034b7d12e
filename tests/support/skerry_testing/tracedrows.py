"""Rows that write down when they run, and agents made of them: fused or as separate middlewares."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NotRequired

from langchain.agents import AgentState, create_agent
from langchain.agents.middleware.types import AgentMiddleware, ExtendedModelResponse
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from typing_extensions import override

from skerry_runner.compose import RowFault, compose
from skerry_runner.models.scripted.model import ScriptedModel
from skerry_runner.models.scripted.parse import parse_script
from skerry_runner.models.scripted.playhead import Playhead

Trace = list[str]
NodeEffect = Callable[[Any], dict[str, Any] | None]


class TracedState(AgentState[None]):
    log: NotRequired[Annotated[list[str], operator.add]]
    total: NotRequired[Annotated[int, operator.add]]
    last: NotRequired[str]


class Traced(AgentMiddleware[TracedState, Any, Any]):
    """All hooks; each leaves a trace and an update, or what `effects` says for it."""

    state_schema = TracedState

    def __init__(self, label: str, trace: Trace, effects: dict[str, NodeEffect] | None = None) -> None:
        super().__init__()
        self._label, self._trace, self._effects = label, trace, effects or {}

    @property
    @override
    def name(self) -> str:
        return self._label

    def _node(self, hook: str, state: Any) -> dict[str, Any] | None:
        # What the row sees of the rows before it is part of the trace.
        self._trace.append(
            f"{self._label}.{hook} log={len(state.get('log', []))} total={state.get('total', 0)}"
        )
        if hook in self._effects:
            return self._effects[hook](state)
        return {"log": [f"{self._label}.{hook}"], "total": 1, "last": self._label}

    @override
    async def abefore_agent(self, state: TracedState, runtime: Any) -> dict[str, Any] | None:
        return self._node("before_agent", state)

    @override
    async def abefore_model(self, state: TracedState, runtime: Any) -> dict[str, Any] | None:
        return self._node("before_model", state)

    @override
    async def aafter_model(self, state: TracedState, runtime: Any) -> dict[str, Any] | None:
        return self._node("after_model", state)

    @override
    async def aafter_agent(self, state: TracedState, runtime: Any) -> dict[str, Any] | None:
        return self._node("after_agent", state)

    @override
    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        self._trace.append(f"{self._label}.model in {len(request.messages)}")
        extra = HumanMessage(f"hint of {self._label}")
        response = await handler(request.override(messages=[*request.messages, extra]))
        self._trace.append(f"{self._label}.model out")
        command: Command[Any] = Command(update={"log": [f"{self._label}.model"], "total": 10})
        return ExtendedModelResponse(model_response=response, command=command)

    @override
    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        call = request.tool_call["id"]
        self._trace.append(f"{self._label}.tool in {call}")
        result = await handler(request)
        self._trace.append(f"{self._label}.tool out {call}")
        return result


@tool
async def look(where: str) -> str:
    """Look there."""
    return f"seen {where}"


def no_row(_: Any) -> None:
    """An effect that changes nothing."""


async def play(
    rows: Sequence[AgentMiddleware[Any, Any, Any]],
    script: str,
    *,
    fused: bool,
    faults: list[RowFault] | None = None,
) -> dict[str, Any]:
    """Run an agent of these rows; its final state, messages as (type, text, calls)."""
    middleware: list[Any] = list(rows)
    if fused:
        told = faults if faults is not None else []
        middleware = [compose(rows, state_schema=TracedState, on_fault=lambda _, fault: told.append(fault))]
    model = ScriptedModel(playhead=Playhead(parse_script(script, source="s"), "run"))
    agent: Any = create_agent(
        model, [look], middleware=middleware, state_schema=TracedState, checkpointer=InMemorySaver()
    )
    config = {"configurable": {"thread_id": "t"}}
    state = await agent.ainvoke({"messages": [HumanMessage("go", id="h1")]}, config, durability="sync")
    checkpoints = [kept async for kept in agent.aget_state_history(config)]
    return {
        **{key: value for key, value in state.items() if key != "messages"},
        "messages": [(m.type, m.text, getattr(m, "tool_calls", None)) for m in state["messages"]],
        "checkpoints": len(checkpoints),
    }
