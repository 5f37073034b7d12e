"""What a row offers: which hooks it overrides, and where its node hooks may jump to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from langchain.agents.middleware.types import AgentMiddleware, JumpTo

__all__ = [
    "NODE_HOOKS",
    "Hook",
    "NodeHook",
    "OnFault",
    "PipelineError",
    "Row",
    "RowFault",
    "hooks_of",
    "node_hook",
]

Row = AgentMiddleware[Any, Any, Any]
NodeHook = Callable[[Any, Any], Awaitable[dict[str, Any] | None]]


class PipelineError(Exception):
    """The rows do not fit together; names the row at fault."""


class Hook(StrEnum):
    BEFORE_AGENT = "before_agent"
    BEFORE_MODEL = "before_model"
    WRAP_MODEL_CALL = "wrap_model_call"
    AFTER_MODEL = "after_model"
    WRAP_TOOL_CALL = "wrap_tool_call"
    AFTER_AGENT = "after_agent"


NODE_HOOKS = (Hook.BEFORE_AGENT, Hook.BEFORE_MODEL, Hook.AFTER_MODEL, Hook.AFTER_AGENT)


@dataclass(frozen=True)
class RowFault:
    """A row misbehaved, and the run went on."""

    row: str
    hook: Hook
    error: str
    """Class of the exception, or `UndeclaredJump`."""
    message: str
    tool_call_id: str | None = None


OnFault = Callable[[Any, RowFault], None]
"""Takes the run's context (or None) and the fault."""


def _overrides(row: Row, method: str) -> bool:
    return getattr(type(row), method) is not getattr(AgentMiddleware, method)


def hooks_of(row: Row) -> tuple[Hook, ...]:
    """Hooks that the row overrides, in LangChain's order.

    Raises:
        PipelineError: a wrap hook exists only in its synchronous form, which no asynchronous run can call.
    """
    found = []
    for hook in Hook:
        asynchronous, synchronous = _overrides(row, f"a{hook}"), _overrides(row, hook)
        if hook not in NODE_HOOKS and synchronous and not asynchronous:
            raise PipelineError(f"row {row.name}: {hook} needs its asynchronous form a{hook}")
        if asynchronous or synchronous:
            found.append(hook)
    return tuple(found)


def node_hook(row: Row, hook: Hook) -> NodeHook:
    """The row's node hook as a coroutine function; a synchronous one goes to a thread."""
    if _overrides(row, f"a{hook}"):
        return cast("NodeHook", getattr(row, f"a{hook}"))
    plain = getattr(row, hook)

    async def threaded(state: Any, runtime: Any) -> dict[str, Any] | None:
        return cast("dict[str, Any] | None", await asyncio.to_thread(plain, state, runtime))

    return threaded


def jumps_of(row: Row, hook: Hook) -> frozenset[JumpTo]:
    """Where the hook says that it may jump to (`@hook_config(can_jump_to=…)`)."""
    for method in (hook, f"a{hook}"):
        declared = cast(
            "Sequence[JumpTo] | None", getattr(getattr(type(row), method), "__can_jump_to__", None)
        )
        if declared is not None and _overrides(row, method):
            return frozenset(declared)
    return frozenset()
