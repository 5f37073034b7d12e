"""tool_search: find deferred tools and make them callable."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.types import Command
from pydantic import Field

from skerry_api.rows.deferredtoolfilter import DeferredToolFilterSettings
from skerry_runner.deferred import Catalogue, DeferredTool, carried
from skerry_runner.state import Promoted
from skerry_runner.tools.call import Runtime, context_of
from skerry_runner.tools.toolquery import Found, search

__all__ = ["NAME", "describe", "render", "tool_search_tool"]

NAME = "tool_search"
_ABOUT = """Find tools that are not listed yet and make them callable, from your next turn on. Query forms:
`select:name_a,name_b` brings exactly these; `+word more words` wants `word` in the name and ranks by the others;
anything else is a regular expression over names and descriptions."""
FAULT_MAX = 500


def describe(servers: Sequence[tuple[str, str]]) -> str:
    """The tool's description: how to search, and on which servers (name, what for)."""
    lines = [f"- {name}: {' '.join(about.split())}" if about else f"- {name}" for name, about in servers]
    return "\n".join([_ABOUT, *(["Servers to search:", *lines] if lines else [])])


def render(found: Found, faults: Mapping[str, str], known: Catalogue, max_names: int) -> str:
    """What the model reads: the found tools' schemas as JSON, a line each, then what is amiss."""
    lines = [json.dumps(_schema(each), ensure_ascii=False) for each in found.tools]
    if found.tools:
        lines.insert(0, f"{len(found.tools)} found; you can call them from now on:")
    if found.more:
        lines.append(f"{found.more} more match: narrow the query, or name them with `select:`.")
    if found.missing:
        lines.append(f"There is no tool named {', '.join(json.dumps(name) for name in found.missing)}.")
    if not found.tools:
        names = [each.name for each in known.tools]
        left = len(names) - max_names
        told = ", ".join(names[:max_names]) + (f" and {left} more" if left > 0 else "")
        lines.append(
            "Nothing found." + (f" Tools that can be searched: {told}." if names and max_names else "")
        )
    lines += [f"Server {name} could not be searched: {why[:FAULT_MAX]}" for name, why in faults.items()]
    return "\n".join(lines)


def _schema(each: DeferredTool) -> dict[str, Any]:
    function: dict[str, Any] = convert_to_openai_tool(each.tool)["function"]
    return function


def tool_search_tool(settings: DeferredToolFilterSettings, servers: Sequence[tuple[str, str]]) -> BaseTool:
    """The tool for a profile's deferred servers."""

    @tool(NAME, description=describe(servers))
    async def tool_search(
        query: Annotated[str, Field(min_length=1, description="What to look for.")], runtime: Runtime
    ) -> Command[Any]:
        source = context_of(runtime).deferred
        before = source.catalogue
        loaded = await source.load()
        now = loaded.catalogue
        found = await asyncio.to_thread(search, query, now.tools, settings.max_results)
        names = [*carried(runtime.state.get("promoted"), before, now), *(each.name for each in found.tools)]
        text = render(found, loaded.faults, now, settings.max_names)
        update: dict[str, Any] = {
            "messages": [ToolMessage(text, name=NAME, tool_call_id=runtime.tool_call_id or "")]
        }
        if names:
            update["promoted"] = Promoted(catalogue=now.hash, names=list(dict.fromkeys(names)))
        return Command(update=update)

    return tool_search
