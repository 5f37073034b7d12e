"""Middlewares of a user: good ones and such as can't be used."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from typing_extensions import override

__all__ = ["Handy", "Intruder", "NoMiddleware", "Picky", "Polite", "SyncOnly"]


class Polite(AgentMiddleware[Any, Any, Any]):
    """Adds a word to each request; a plain synchronous node hook besides."""

    def __init__(self, word: str, times: int = 1) -> None:
        super().__init__()
        self.word = word * times

    @override
    def before_agent(self, state: Any, runtime: Any) -> None:
        """Nothing to be done."""

    @override
    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        return await handler(request.override(messages=[*request.messages, HumanMessage(self.word)]))


class Intruder(AgentMiddleware[Any, Any, Any]):
    """Puts its word between a call and its result, where no provider takes one."""

    @override
    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        messages = list(request.messages)
        for place in reversed(range(len(messages))):
            if isinstance(messages[place], ToolMessage):
                messages.insert(place, HumanMessage("By the way"))
        return await handler(request.override(messages=messages))


@tool
async def measure(what: str) -> str:
    """Measure something."""
    return f"{what}: 5"


class Handy(AgentMiddleware[Any, Any, Any]):
    """Brings a tool."""

    tools = (measure,)


class Picky(AgentMiddleware[Any, Any, Any]):
    """Can't be made."""

    def __init__(self) -> None:
        super().__init__()
        raise ValueError("not today")


class SyncOnly(AgentMiddleware[Any, Any, Any]):
    """Its wrap hook lacks the asynchronous form."""

    @override
    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request)


class NoMiddleware:
    """Anything else."""
