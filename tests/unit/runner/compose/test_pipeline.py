"""The composed middleware: which hooks LangChain sees, what it collects from its rows, what it refuses."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import AgentState
from langchain.agents.middleware.types import AgentMiddleware, ModelResponse
from langchain_core.messages import AIMessage
from typing_extensions import override

from skerry_runner.compose import PipelineError, RowFault, compose
from skerry_runner.state import RunnerState
from skerry_testing.tracedrows import TracedState, look, play


class Plain(AgentMiddleware[AgentState[None], Any, Any]):
    """A user's row in the old style: synchronous node hooks, and a tool of its own."""

    tools = [look]  # noqa: RUF012 - LangChain's attribute

    def __init__(self) -> None:
        super().__init__()
        self.threads: list[int] = []

    @override
    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        self.threads.append(threading.get_ident())
        return {"jump_to": "end", "unknown": 1}


class Blocking(AgentMiddleware[AgentState[None], Any, Any]):
    @override
    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(request)


def test_only_hooks_that_a_row_has_are_there() -> None:
    made = compose([Plain()], state_schema=RunnerState)
    overridden = {
        name
        for name in dir(AgentMiddleware)
        if "_agent" in name or "_model" in name or "_tool" in name
        if getattr(type(made), name) is not getattr(AgentMiddleware, name)
    }
    assert overridden == {"abefore_model"}
    assert [tool.name for tool in made.tools] == ["look"]


async def test_a_synchronous_hook_does_not_run_on_the_loop_and_an_undeclared_jump_is_told() -> None:
    row, faults = Plain(), list[RowFault]()
    state = await play([row], "steps: [{say: a}]", fused=True, faults=faults)
    assert [m[1] for m in state["messages"]] == ["go", "a"]
    assert threading.get_ident() not in row.threads
    assert [(fault.row, fault.hook, fault.error) for fault in faults] == [
        ("Plain", "before_model", "UndeclaredJump")
    ]


def test_a_wrap_without_its_asynchronous_form_is_refused() -> None:
    with pytest.raises(
        PipelineError, match="row Blocking: wrap_tool_call needs its asynchronous form awrap_tool_call"
    ):
        compose([Blocking()], state_schema=TracedState)


def test_two_rows_of_one_name_are_refused() -> None:
    with pytest.raises(PipelineError, match="two rows are named Plain"):
        compose([Plain(), Plain()], state_schema=TracedState)


class Retrying(AgentMiddleware[AgentState[None], Any, Any]):
    @override
    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        await handler(request)
        return await handler(request)


class Answering(AgentMiddleware[AgentState[None], Any, Any]):
    """Answers without the model, as a bare message."""

    @override
    async def awrap_model_call(self, request: Any, handler: Any) -> AIMessage:
        return AIMessage("mine")


class Reading(AgentMiddleware[AgentState[None], Any, Any]):
    seen: list[Any]

    @override
    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        response = await handler(request)
        self.seen = [type(response)]
        return response


@pytest.mark.parametrize("fused", [True, False])
async def test_a_retried_call_writes_what_its_last_attempt_wrote(fused: bool) -> None:
    from skerry_testing.tracedrows import Traced

    state = await play([Retrying(), Traced("T", [])], "steps: [{say: a}, {say: b}]", fused=fused)
    assert [m[1] for m in state["messages"]] == ["go", "b"]
    assert [entry for entry in state["log"] if entry == "T.model"] == ["T.model"]


@pytest.mark.parametrize("fused", [True, False])
async def test_an_outer_row_always_sees_a_response(fused: bool) -> None:
    outer = Reading()
    state = await play([outer, Answering()], "steps: []", fused=fused)
    assert [m[1] for m in state["messages"]] == ["go", "mine"]
    assert outer.seen == [ModelResponse]
