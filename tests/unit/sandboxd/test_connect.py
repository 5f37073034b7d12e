"""The bridge from a pods/exec session to the unix socket."""

from __future__ import annotations

import asyncio
import os
import sys

from skerry_testing.sandboxd import Sandboxd


async def bridge(socket: str, request: bytes) -> tuple[int | None, bytes, bytes]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "skerry_sandboxd.connect",
        env={"PATH": os.environ["PATH"], "SKERRY_SOCKET": socket},
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate(request)
    return process.returncode, out, err


async def test_a_command_through_it(sandboxd: Sandboxd) -> None:
    body = b'{"key":"bridge","command":"echo over the bridge"}'
    head = (
        f"POST /v1/executions HTTP/1.1\r\nHost: s\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    code, out, _ = await bridge(str(sandboxd.socket), head.encode() + body)
    assert code == 0
    assert out.startswith(b"HTTP/1.1 200")
    assert b"over the bridge" in out
    assert b'"type":"exit"' in out


async def test_no_socket() -> None:
    code, _, err = await bridge("/nonexistent.sock", b"")
    assert (code, err) == (1, b"sandboxd: /nonexistent.sock: No such file or directory\n")
