"""A real MCP server with tools of every temper: `python -m skerry_testing.mcpserver stdio | http PORT [ADDRESS]`.

Over HTTP it says `listening PORT` on standard error and wants the header `Authorization: Bearer secret-token`.
MCP_STATE names a file where it leaves a line per start and per call; MCP_PIDS another for process ids; MCP_VARIANT=changed changes a description.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    BlobResourceContents,
    CallToolRequestParams,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ListToolsResult,
    PaginatedRequestParams,
    ResourceLink,
    TextContent,
    TextResourceContents,
    Tool,
)
from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["PNG", "TOKEN", "TOOLS"]

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TOKEN = "secret-token"
PAGE = 4


def _tool(name: str, description: str, **properties: str) -> Tool:
    schema = {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in properties.items()},
        "required": [key for key in properties if key != "config"],
    }
    return Tool(name=name, description=description, input_schema=schema)


def _described() -> str:
    return "Add, but differently." if os.environ.get("MCP_VARIANT") == "changed" else "Add two numbers."


TOOLS = (
    _tool("add", "", a="integer", b="integer"),
    _tool("echo", "Say the text again.", text="string", config="string"),
    _tool("fail", "Always fails."),
    _tool("bash", "No shell at all, whatever its name says."),
    _tool("picture", "A picture, a resource and a text."),
    _tool("slow", "Takes its time.", seconds="number"),
    _tool("die", "Ends the server in the middle of the call."),
    _tool("weather/by.city", "Has a name that no model's provider takes.", city="string"),
    _tool("structured", "Answers with structured content alone."),
    Tool(name="bare", input_schema={"type": "object"}),
)


def note(line: str) -> None:
    """Leave a trace that outlives the server."""
    if path := os.environ.get("MCP_STATE"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(line + "\n")


async def list_tools(_context: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
    """In pages."""
    start = int(params.cursor) if params and params.cursor else 0
    tools = [
        tool.model_copy(update={"description": _described()}) if tool.name == "add" else tool
        for tool in TOOLS
    ]
    end = start + PAGE
    return ListToolsResult(tools=tools[start:end], next_cursor=str(end) if end < len(tools) else None)


def _said(text: str, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)], is_error=is_error)


async def call_tool(_context: Any, params: CallToolRequestParams) -> CallToolResult:  # noqa: PLR0911 - one per tool
    arguments = params.arguments or {}
    note(f"call {params.name} {json.dumps(arguments, sort_keys=True)}")
    match params.name:
        case "add":
            return _said(str(arguments["a"] + arguments["b"]))
        case "echo":
            return _said(f"{arguments['text']} {arguments.get('config', '')}".strip())
        case "fail":
            return _said("it went wrong", is_error=True)
        case "slow":
            await asyncio.sleep(arguments["seconds"])
            return _said("at last")
        case "die":
            os._exit(3)
        case "structured":
            return CallToolResult(content=[], structured_content={"answer": 42})
        case "bare":
            return CallToolResult(content=[])
        case "picture":
            blob = BlobResourceContents(uri="blob://x", mime_type="application/x-thing", blob="AAEC")
            text = TextResourceContents(uri="text://x", text="in a resource")
            return CallToolResult(
                content=[
                    TextContent(text="look:"),
                    ImageContent(data=PNG, mime_type="image/png"),
                    ResourceLink(name="there", uri="https://example.org/there"),
                    EmbeddedResource(resource=blob),
                    EmbeddedResource(resource=text),
                ]
            )
        case _:
            return _said(f"{params.name} {json.dumps(arguments)}")


def _server() -> Server[Any]:
    return Server("tempers", on_list_tools=list_tools, on_call_tool=call_tool)


async def over_stdio() -> None:
    server = _server()
    print("a greeting that is no message", flush=True)  # noqa: T201 - some servers do this
    sys.stderr.write("a complaint\n")
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


class _Guarded:
    """Refuses who has no token."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", ()))
        if scope["type"] == "http" and headers.get(b"authorization") != f"Bearer {TOKEN}".encode():
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b"no token"})
            return
        await self._app(scope, receive, send)


async def over_http(port: int, address: str = "127.0.0.1") -> None:
    listener = socket.create_server((address, port))
    sys.stderr.write(f"listening {listener.getsockname()[1]}\n")
    sys.stderr.flush()
    config = uvicorn.Config(
        _Guarded(_server().streamable_http_app(host=address)), log_level="error", timeout_graceful_shutdown=1
    )
    await uvicorn.Server(config).serve([listener])


if __name__ == "__main__":
    note("start")
    if pids := os.environ.get("MCP_PIDS"):
        with Path(pids).open("a", encoding="utf-8") as file:
            file.write(f"{os.getpid()}\n")
    asyncio.run(over_stdio() if sys.argv[1] == "stdio" else over_http(int(sys.argv[2]), *sys.argv[3:4]))
