"""Tools from outside: servers that live as long as an invocation. The port, and a profile without any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from langchain_core.tools import BaseTool
from typing_extensions import override

from skerry_runner.deferred import DeferredTools, NoDeferredTools
from skerry_runner.session import SandboxSession

__all__ = ["NoToolServers", "OpenServers", "ToolServers", "no_servers"]


class ToolServers(DeferredTools, Protocol):
    """Opened before the agent is built, closed on every way out."""

    async def open(self) -> Sequence[BaseTool]:
        """Tools that the agent has from the start.

        Raises:
            RunEnded: a server that is not deferred can't be had.
        """
        ...

    async def close(self) -> None:
        """Let go of all connections. Bounded; raises cancellation alone. Idempotent."""
        ...


OpenServers = Callable[[SandboxSession], ToolServers]
"""Makes the servers of an invocation; nothing is connected yet."""


class NoToolServers(NoDeferredTools, ToolServers):
    @override
    async def open(self) -> Sequence[BaseTool]:
        return ()

    @override
    async def close(self) -> None:
        """Nothing is held."""


def no_servers(_session: SandboxSession) -> ToolServers:
    return NoToolServers()
