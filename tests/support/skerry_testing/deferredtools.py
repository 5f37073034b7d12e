"""Deferred tools and their source in memory: the second implementation of ToolServers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from langchain_core.tools import BaseTool, tool

from skerry_runner.deferred import Catalogue, DeferredTool, Loaded, digest_of

__all__ = ["FakeServers", "deferred", "plain_tool"]


def plain_tool(name: str, about: str = "Does it.") -> BaseTool:
    """Says its name and what it was given."""

    @tool(name, description=about)
    async def body(x: str = "") -> str:
        return f"{name} did {x}"

    return body


def deferred(name: str, about: str = "Does it.", *, server: str = "srv") -> DeferredTool:
    return DeferredTool(plain_tool(name, about), server, digest_of((server, name, about)))


@dataclass
class FakeServers:
    """`waiting` are found by the first load; `bound` are there from the start. Each load takes the next of `loads`."""

    waiting: tuple[DeferredTool, ...] = ()
    bound: Sequence[BaseTool] = ()
    loads: list[Loaded] = field(default_factory=list)
    catalogue: Catalogue = field(default_factory=Catalogue)
    loaded: bool = False
    asked: int = 0
    closed: int = 0

    async def open(self) -> Sequence[BaseTool]:
        return self.bound

    async def load(self) -> Loaded:
        await asyncio.sleep(0)
        self.asked += 1
        self.loaded = True
        found = self.loads.pop(0) if self.loads else Loaded(Catalogue(self.waiting))
        self.catalogue = found.catalogue
        return found

    async def close(self) -> None:
        self.closed += 1
