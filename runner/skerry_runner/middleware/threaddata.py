"""ThreadData: ids that are safe to build on, and a stamp on the message that started the run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.runtime import Runtime
from typing_extensions import override

from skerry_runner.context import RunContext
from skerry_runner.messages import RUN_ID
from skerry_runner.outcome import InvalidDocument
from skerry_runner.state import RunnerState

__all__ = ["ThreadData", "check_id", "stamped"]

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@:/-]{0,127}")
DEFAULT_NAME = "user-input"


def check_id(path: str, value: str) -> None:
    """Whether an id may become part of names and paths.

    Raises:
        InvalidDocument: it may not.
    """
    if not _ID.fullmatch(value) or ".." in value.split("/"):
        raise InvalidDocument(
            "InvalidId", path, f"{value!r} is no id: letters, digits and ._@:/- (no `..`), at most 128"
        )


def stamped(messages: Sequence[AnyMessage], *, run: str, now: datetime) -> HumanMessage | None:
    """The last message with run id and time, under its own id; None if it is not a person's."""
    last = messages[-1] if messages else None
    if not isinstance(last, HumanMessage):
        return None
    kwargs = {**last.additional_kwargs, RUN_ID: run, "timestamp": now.isoformat()}
    return last.model_copy(update={"name": last.name or DEFAULT_NAME, "additional_kwargs": kwargs})


class ThreadData(AgentMiddleware[RunnerState, RunContext, Any]):
    """Makes no directories: whoever provides the sandbox makes them when they are needed."""

    state_schema = RunnerState

    @override
    async def abefore_agent(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        context = runtime.context
        check_id("threadId", context.thread)
        check_id("userId", context.user)
        message = stamped(state["messages"], run=context.run, now=context.clock())
        return None if message is None else {"messages": [message]}
