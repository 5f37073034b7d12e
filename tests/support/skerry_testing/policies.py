"""Guardrail providers and endpoints for tests: classes as a user's, and a policy server that can misbehave."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from langgraph.errors import GraphInterrupt

from skerry_runner.guardrail import Decision, GuardedCall

__all__ = [
    "Answers",
    "AsyncPolicy",
    "BrokenPolicy",
    "Halt",
    "InterruptingPolicy",
    "LyingPolicy",
    "NoPolicy",
    "PlainPolicy",
    "StoppingSubagents",
    "TellTale",
    "policy_server",
]


class PlainPolicy:
    """Answers with booleans, from a plain method."""

    def decide(self, call: GuardedCall) -> bool:
        return call.tool != "bash"


class AsyncPolicy:
    async def decide(self, call: GuardedCall) -> Decision:
        return Decision(allow=call.user != "user", code="house", reason=f"not for {call.user}")


class BrokenPolicy:
    async def decide(self, call: GuardedCall) -> Decision:
        raise RuntimeError(f"no idea about {call.tool}")


class TellTale:
    """Fails with words that a test chooses."""

    words = ""

    def decide(self, call: GuardedCall) -> bool:
        raise RuntimeError(self.words)


class LyingPolicy:
    def decide(self, call: GuardedCall) -> str:
        return "yes"


class InterruptingPolicy:
    async def decide(self, call: GuardedCall) -> Decision:
        raise GraphInterrupt(())


class Halt(BaseException):
    """No error that anybody expects."""


class StoppingSubagents:
    """Lets the lead's calls pass; a subagent's command names what is raised at it."""

    async def decide(self, call: GuardedCall) -> Decision:
        if call.agent == "lead":
            return Decision(allow=True)
        raise {"interrupt": GraphInterrupt(()), "halt": Halt("halted")}[call.arguments["command"]]


class NoPolicy:
    """Has no `decide`."""


Answers = Callable[[dict[str, Any], dict[str, str]], tuple[int, bytes] | None]
"""From the body and the headers (names in lower case) to status and body; None: no answer at all."""


@asynccontextmanager
async def policy_server(answers: Answers) -> AsyncIterator[str]:
    """A server on loopback; its address."""
    held = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().split("\r\n")[1:]
                headers = {
                    k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines if line)
                }
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                answer = answers(json.loads(body), headers)
                if answer is None:
                    await held.wait()
                    return
                status, content = answer
                writer.write(
                    f"HTTP/1.1 {status} X\r\ncontent-length: {len(content)}\r\n\r\n".encode() + content
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        held.set()
        server.close()
        await server.wait_closed()
