"""DeferredToolFilter: deferred tools are neither seen nor carried out until a search has promoted them.

Both sides fail closed: what is not known to be promoted, of the catalogue as it is now, is hidden and refused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse, ToolCallRequest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.types import Command
from typing_extensions import override

from skerry_api.rows.deferredtoolfilter import DeferredToolFilterSettings
from skerry_runner.context import RunContext
from skerry_runner.deferred import Catalogue, DeferredTools
from skerry_runner.state import Promoted, RunnerState
from skerry_runner.tools.tool_search import NAME, tool_search_tool

__all__ = ["DeferredToolFilter", "refusal", "visible"]


def visible(
    tools: Sequence[BaseTool | dict[str, Any]], catalogue: Catalogue, promoted: Promoted | None
) -> list[BaseTool | dict[str, Any]]:
    """The tools of a request: promoted ones at the end, so that what stands before them stays cached."""
    deferred = {id(each.tool) for each in catalogue.tools}
    plain = [tool for tool in tools if id(tool) not in deferred]
    taken = {tool.name for tool in plain if isinstance(tool, BaseTool)}
    return [*plain, *(each.tool for each in catalogue.promoted(promoted) if each.name not in taken)]


def refusal(name: str) -> str:
    """What the model is told when it calls what it can't know."""
    return (
        f"Error: tool '{name}' is deferred and has not been promoted yet, so it was not called. "
        f"Call {NAME} with `select:{name}` first, then call it again as its schema says."
    )


async def _known(source: DeferredTools, promoted: Promoted | None) -> Catalogue:
    """The catalogue; asked for anew when an earlier epoch or run of the thread has promoted something of it."""
    if promoted is not None and promoted["names"] and not source.loaded:
        return (await source.load()).catalogue
    return source.catalogue


class DeferredToolFilter(AgentMiddleware[RunnerState, RunContext, Any]):
    """`servers`: name and description of each deferred one, for the search tool's description."""

    state_schema = RunnerState

    def __init__(self, settings: DeferredToolFilterSettings, servers: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__()
        self.tools = [tool_search_tool(settings, servers)]

    @override
    async def awrap_model_call(
        self,
        request: ModelRequest[RunContext],
        handler: Callable[[ModelRequest[RunContext]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        promoted = cast("RunnerState", request.state).get("promoted")
        catalogue = await _known(request.runtime.context.deferred, promoted)
        tools = visible(request.tools, catalogue, promoted)
        if len(tools) == len(request.tools) and all(map(_same, tools, request.tools)):
            return await handler(request)
        return await handler(request.override(tools=tools))

    @override
    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        name = request.tool_call["name"]
        source = cast("RunContext", request.runtime.context).deferred
        promoted = (request.state or {}).get("promoted")
        catalogue = await _known(source, promoted)
        found = catalogue.by_name.get(name)
        if found is None or (request.tool is not None and request.tool is not found.tool):
            return await handler(request)
        if found not in catalogue.promoted(promoted):
            return ToolMessage(
                refusal(name), name=name, tool_call_id=request.tool_call["id"] or "", status="error"
            )
        return await handler(request.override(tool=found.tool))


def _same(left: object, right: object) -> bool:
    return left is right
