"""A server's tool as the agent's."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.tools import BaseTool
from mcp_types import CallToolResult, Tool
from typing_extensions import override

from skerry_runner.deferred import digest_of
from skerry_runner.mcp.content import Binary, parts_of, render
from skerry_runner.tools.errors import ToolFailure

__all__ = ["Call", "Keep", "McpTool", "digest", "make_tool", "schema_of"]

Call = Callable[[Tool, dict[str, Any]], Awaitable[CallToolResult]]
Keep = Callable[[Binary], Awaitable[str]]
"""Puts bytes where the agent can get at them; says where, or why not. Never raises an ordinary error."""


def schema_of(tool: Tool) -> dict[str, Any]:
    """Its input schema as providers take it: an object with properties, even where the server names none."""
    schema = {key: value for key, value in tool.input_schema.items() if key != "$schema"}
    return {**schema, "type": "object", "properties": schema.get("properties") or {}}


def digest(server: str, name: str, tool: Tool) -> str:
    """Of all that the model is told, and of whose tool it is."""
    schema = json.dumps(schema_of(tool), sort_keys=True)
    return digest_of((server, tool.name, name, tool.description or "", schema))


class McpTool(BaseTool):
    """Arguments go to the server as they are: it knows best what it takes."""

    definition: Tool
    call: Call
    keep: Keep

    @override
    def _run(self, /, **arguments: Any) -> str:
        raise NotImplementedError("the runner is asynchronous")

    # Without `run_manager` and `config`, which may be names of a server's arguments.
    @override
    async def _arun(self, /, **arguments: Any) -> str:
        result = await self.call(self.definition, arguments)
        parts = parts_of(result)
        kept = {part: await self.keep(part) for part in parts if isinstance(part, Binary)}
        text = render(parts, kept.__getitem__)
        if result.is_error:
            raise ToolFailure(text)
        return text


def make_tool(name: str, tool: Tool, call: Call, keep: Keep) -> McpTool:
    """The tool under its name here."""
    described = (
        tool.description or (tool.annotations.title if tool.annotations else None) or tool.title or name
    )
    return McpTool(
        name=name, description=described, args_schema=schema_of(tool), definition=tool, call=call, keep=keep
    )
