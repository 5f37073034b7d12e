"""Tools that the agent does not see until it searches for them: what they are, where they come from. Pure but for the port."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from langchain_core.tools import BaseTool

from skerry_runner.state import Promoted

__all__ = ["Catalogue", "DeferredTool", "DeferredTools", "Loaded", "NoDeferredTools", "carried", "digest_of"]

HASH_CHARS = 16


@dataclass(frozen=True)
class DeferredTool:
    """`digest` covers all that the model is told of the tool, and whose it is: another text, another tool."""

    tool: BaseTool
    server: str
    digest: str

    @property
    def name(self) -> str:
        return self.tool.name


@dataclass(frozen=True)
class Catalogue:
    """The deferred tools as they are known now, in the profile's order. Names are unique."""

    tools: tuple[DeferredTool, ...] = ()
    by_name: Mapping[str, DeferredTool] = field(init=False, repr=False, compare=False)
    hash: str = field(init=False, compare=False)
    """Promotions hold for this catalogue alone."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {tool.name: tool for tool in self.tools})
        joined = "\n".join(sorted(f"{tool.name} {tool.digest}" for tool in self.tools))
        object.__setattr__(self, "hash", hashlib.sha256(joined.encode()).hexdigest()[:HASH_CHARS])

    def promoted(self, promoted: Promoted | None) -> tuple[DeferredTool, ...]:
        """Tools that the model may see and call, in the catalogue's order; none if the promotion was of another one."""
        if promoted is None or promoted["catalogue"] != self.hash:
            return ()
        names = frozenset(promoted["names"])
        return tuple(tool for tool in self.tools if tool.name in names)


def carried(promoted: Promoted | None, before: Catalogue, now: Catalogue) -> list[str]:
    """Names that stay promoted when the catalogue changes under a run: those that mean the very same tool."""
    if before.hash == now.hash:
        return []
    same = (now.by_name.get(tool.name) for tool in before.promoted(promoted))
    return [
        tool.name for tool in same if tool is not None and tool.digest == before.by_name[tool.name].digest
    ]


@dataclass(frozen=True)
class Loaded:
    """`faults`: by server, why its tools are missing."""

    catalogue: Catalogue
    faults: Mapping[str, str] = field(default_factory=dict)


class DeferredTools(Protocol):
    """Where they come from. Raises only RunEnded and cancellation: what can't be had is a fault in `Loaded`."""

    @property
    def catalogue(self) -> Catalogue:
        """As known now; empty before the first `load`."""
        ...

    @property
    def loaded(self) -> bool:
        """Whether `load` was done once."""
        ...

    async def load(self) -> Loaded:
        """Ask every source that has not answered yet. Bounded in time."""
        ...


@dataclass(frozen=True)
class NoDeferredTools:
    """A profile without any."""

    catalogue: Catalogue = Catalogue()
    loaded: bool = True

    async def load(self) -> Loaded:
        return Loaded(self.catalogue)


def digest_of(parts: Iterable[str]) -> str:
    """SHA-256 over texts, told apart by their lengths."""
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()
