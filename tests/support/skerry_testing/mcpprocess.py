"""Start the real MCP server of `mcpserver` over HTTP, on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

__all__ = ["command_line", "running_http", "traces"]


def command_line() -> tuple[str, tuple[str, ...], dict[str, str]]:
    """Command, arguments and environment of the server over stdio, for a profile."""
    return (
        sys.executable,
        ("-m", "skerry_testing.mcpserver", "stdio"),
        {"PYTHONPATH": os.pathsep.join(sys.path)},
    )


def traces(state: Path) -> list[str]:
    """What the servers that share this file have left there."""
    return state.read_text(encoding="utf-8").splitlines() if state.exists() else []


@contextlib.asynccontextmanager
async def running_http(state: Path, port: int = 0, **environment: str) -> AsyncIterator[tuple[str, int]]:
    """Yields its URL and port; stopped at the end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "skerry_testing.mcpserver", "http", str(port),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "MCP_STATE": str(state), **environment},
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        async with asyncio.timeout(60):
            said = b""
            while not said.startswith(b"listening "):
                said = await process.stderr.readline()
                if not said:
                    raise RuntimeError("the MCP server did not start")
        bound = int(said.split()[1])
        yield f"http://127.0.0.1:{bound}/mcp", bound
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        # Whatever else it says must not fill the pipe.
        await process.communicate()
