"""The guard around a row's tool wrap: our faults neither kill a run nor hide a result."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.errors import GraphInterrupt

from skerry_runner.compose.guarded import ToolHandler, guarded
from skerry_runner.compose.rows import RowFault
from skerry_runner.outcome import RunEnded, app_error

RESULT = ToolMessage("done", tool_call_id="c1")


def request() -> ToolCallRequest:
    runtime: Any = SimpleNamespace(context="the context")
    return ToolCallRequest({"name": "bash", "args": {}, "id": "c1"}, None, {}, runtime)


async def handler(_: ToolCallRequest) -> ToolMessage:
    return RESULT


async def call(wrap: Any, inner: ToolHandler = handler) -> tuple[Any, list[tuple[Any, RowFault]]]:
    faults: list[tuple[Any, RowFault]] = []
    return await guarded("Row", wrap, lambda context, fault: faults.append((context, fault)))(
        request(), inner
    ), faults


async def test_a_fault_before_the_handler_is_an_error_result() -> None:
    async def wrap(_request: Any, _handler: Any) -> Any:
        raise ValueError("oops")

    result, faults = await call(wrap)
    assert (result.status, result.tool_call_id, result.name) == ("error", "c1", "bash")
    assert "Row failed with ValueError" in result.text
    assert "oops" not in result.text
    assert faults == [("the context", RowFault("Row", faults[0][1].hook, "ValueError", "oops", "c1"))]


async def test_a_fault_after_the_handler_keeps_the_result() -> None:
    async def wrap(request: Any, handler: Any) -> Any:
        await handler(request)
        raise ValueError("oops")

    result, faults = await call(wrap)
    assert result is RESULT
    assert len(faults) == 1


async def test_what_the_handler_raises_passes() -> None:
    error = KeyError("x")

    async def failing(_: Any) -> Any:
        raise error

    async def wrap(request: Any, handler: Any) -> Any:
        return await handler(request)

    with pytest.raises(KeyError) as caught:
        await call(wrap, failing)
    assert caught.value is error


async def test_a_row_that_trips_over_the_handler_s_error_is_at_fault_itself() -> None:
    async def failing(_: Any) -> Any:
        raise KeyError("x")

    async def wrap(request: Any, handler: Any) -> Any:
        try:
            return await handler(request)
        except KeyError:
            raise TypeError("worse") from None

    result, faults = await call(wrap, failing)
    assert result.status == "error"
    assert [fault.error for _, fault in faults] == ["TypeError"]


@pytest.mark.parametrize(
    "error",
    [GraphInterrupt(()), asyncio.CancelledError(), RunEnded(app_error("X", "x")), KeyboardInterrupt()],
)
@pytest.mark.parametrize("late", [True, False])
async def test_interrupts_cancellation_and_ends_pass(error: BaseException, late: bool) -> None:
    async def wrap(request: Any, handler: Any) -> Any:
        if late:
            await handler(request)
        raise error

    with pytest.raises(type(error)):
        await call(wrap)
