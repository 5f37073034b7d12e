"""What the tools share: the sandbox for this call, keys that make a repeated request harmless, errors as results."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

from langchain.agents.middleware.types import ToolCallRequest
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, AnyMessage

from skerry_runner.context import RunContext
from skerry_runner.outcome import RunEnded, cancelled, sandbox_lost
from skerry_runner.paths import OutsideThreadData, virtual_path
from skerry_runner.ports import CancelReason, SandboxLost
from skerry_runner.questions import ASK, question_id
from skerry_runner.sandbox.errors import SandboxError, SandboxFenced, SandboxReplaced
from skerry_runner.sandbox.types import Sandbox, execution_key
from skerry_runner.tools.errors import ToolFailure

__all__ = ["Runtime", "SandboxCall", "checked_path", "context_of", "is_resumed", "place_of", "sandbox_call"]

# Without types: pydantic would make a schema of the context and all that hangs on it.
Runtime = ToolRuntime[Any, Any]
ERROR_MAX = 2000


def place_of(messages: Sequence[AnyMessage], call_id: str) -> tuple[str, int]:
    """Where a call stands: id of the newest AIMessage that makes it, and the call's index therein (from 0)."""
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            for index, call in enumerate(message.tool_calls):
                if call["id"] == call_id:
                    return message.id or "", index
    # A call that is in no message (made by hand): its own id must do.
    return call_id, 0


def is_resumed(request: ToolCallRequest) -> bool:
    """Whether this is a question whose answer has come: the same call passes all rows for the second time.

    What a row decided, counted or recorded for it stands; it must not do so again.
    """
    if request.tool_call["name"] != ASK:
        return False
    context = cast("RunContext", request.runtime.context)
    place = place_of((request.state or {}).get("messages", ()), request.tool_call["id"] or "")
    return question_id(context.run, *place) in context.resumes


def checked_path(path: str, *, write: bool = False) -> str:
    """The virtual path of an argument.

    Raises:
        ToolFailure: it leads out of the thread's data, or to what can't be written.
    """
    try:
        return virtual_path(path, write=write)
    except OutsideThreadData as error:
        raise ToolFailure(str(error)) from error


class SandboxCall:
    """One tool call's view of the sandbox."""

    def __init__(self, context: RunContext, sandbox: Sandbox, message_id: str, index: int) -> None:
        self.sandbox = sandbox
        within = (context.execution,) if context.execution else ()
        self._parts = (context.run, *within, message_id, index)
        self._ordinal = 0

    def key(self) -> str:
        """Idempotency key of the call's next request: run, a subagent's execution, message, call index, ordinal."""
        self._ordinal += 1
        return execution_key(*self._parts, self._ordinal)


def context_of(runtime: Runtime) -> RunContext:
    """The run's context."""
    return cast("RunContext", runtime.context)


@asynccontextmanager
async def sandbox_call(runtime: Runtime) -> AsyncIterator[SandboxCall]:
    """Acquire the sandbox if need be; sandbox errors inside the block become the tool's result.

    Raises:
        ToolFailure: the sandbox could not be had, or refused, or was replaced.
        RunEnded: there is none any more, or a newer runner has it.
    """
    context = context_of(runtime)
    message_id, index = place_of(runtime.state["messages"], runtime.tool_call_id or "")
    try:
        yield SandboxCall(context, await context.sandbox.acquire(), message_id, index)
    except SandboxReplaced as error:
        context.sandbox.replaced(str(error))
        raise ToolFailure(str(error)) from error
    except SandboxFenced as error:
        raise RunEnded(cancelled(CancelReason.FENCED)) from error
    except SandboxLost as error:
        raise RunEnded(sandbox_lost(str(error))) from error
    except SandboxError as error:
        raise ToolFailure(str(error)[:ERROR_MAX]) from error
