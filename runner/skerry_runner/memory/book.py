"""Facts and waiting snapshots in a LangGraph store, each an item of its own, so that two runs at once lose nothing."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from langgraph.store.base import BaseStore, PutOp, SearchItem
from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from skerry_runner.memory.facts import Change, Fact
from skerry_runner.memory.snapshot import Snapshot

__all__ = ["ROOT", "MemoryBook", "Owner", "Pending", "Waiting"]

ROOT = "skerry-memory"
PAGE = 200
log = logging.getLogger(__name__)
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class Owner:
    """Whose facts: of a user, as an agent knows them."""

    user: str
    agent: str


class Pending(BaseModel):
    """A snapshot that waits to become facts; from `due` on anybody may make them, before that its own thread's runs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    snapshot: Snapshot
    profile: str
    due: AwareDatetime
    epoch: int = 1
    """Of the run that wrote it."""
    attempts: int = 0
    """Answers of the model that were of no use."""


@dataclass(frozen=True)
class Waiting:
    """A pending snapshot and its place."""

    space: tuple[str, ...]
    key: str
    pending: Pending


def _label(*parts: str) -> str:
    """Labels of a store's namespaces hold no dots, and users' ids may: 32 hex digits."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


class MemoryBook:
    """The memories of one namespace (of Kubernetes, or a laptop's). Methods raise whatever the store raises."""

    def __init__(self, store: BaseStore, namespace: str) -> None:
        self._store = store
        self._namespace = _label(namespace)

    def _space(self, kind: str, owner: Owner | None = None) -> tuple[str, ...]:
        own = () if owner is None else (_label(owner.user, owner.agent),)
        return (ROOT, kind, self._namespace, *own)

    async def facts(self, owner: Owner) -> list[Fact]:
        """All that is known, in no order; an item that is no fact is left alone."""
        return [fact async for _, fact in self._read(self._space("facts", owner), Fact)]

    async def apply(self, owner: Owner, change: Change) -> None:
        """Write and delete facts."""
        space = self._space("facts", owner)
        puts = [PutOp(space, fact.id, fact.model_dump(mode="json"), index=False) for fact in change.put]
        await self._write([*puts, *(PutOp(space, id_, None) for id_ in change.delete)])

    async def keep(self, pending: Pending) -> None:
        """Write a snapshot; a later one of the same run and epoch takes its place.

        Nobody fences this store: each epoch has a place of its own, so that an older one that still lives can neither
        overwrite nor drop what a newer one wrote. `due_groups` gives the newest the say.
        """
        snapshot = pending.snapshot
        space = self._space("pending", Owner(snapshot.user, snapshot.agent))
        key = _label(snapshot.thread, snapshot.run, str(pending.epoch))
        await self._write([PutOp(space, key, pending.model_dump(mode="json"), index=False)])

    async def replace(self, waiting: Waiting, pending: Pending) -> None:
        """Write a snapshot again in its place."""
        await self._write([PutOp(waiting.space, waiting.key, pending.model_dump(mode="json"), index=False)])

    async def waiting(self, owner: Owner | None = None) -> list[Waiting]:
        """Snapshots that wait, of one owner or of all."""
        return [
            Waiting(item.namespace, item.key, pending)
            async for item, pending in self._read(self._space("pending", owner), Pending)
        ]

    async def drop(self, waiting: Iterable[Waiting]) -> None:
        """These are done with."""
        await self._write([PutOp(each.space, each.key, None) for each in waiting])

    async def forget(self, owner: Owner) -> tuple[int, int]:
        """Delete all facts and all that waits; how many of each."""
        counts = []
        for kind in ("pending", "facts"):
            space = self._space(kind, owner)
            items = [item async for item in self._items(space)]
            await self._write([PutOp(item.namespace, item.key, None) for item in items])
            counts.append(len(items))
        return counts[1], counts[0]

    async def _write(self, puts: list[PutOp]) -> None:
        for start in range(0, len(puts), PAGE):
            await self._store.abatch(puts[start : start + PAGE])

    async def _items(self, space: tuple[str, ...]) -> AsyncIterator[SearchItem]:
        # Refreshing would be a write. All pages first: who deletes while reading would skip items.
        found: dict[tuple[Any, ...], SearchItem] = {}
        offset = 0
        while page := await self._store.asearch(space, limit=PAGE, offset=offset, refresh_ttl=False):
            found |= {(*item.namespace, item.key): item for item in page}
            offset += len(page)
            if len(page) < PAGE:
                break
        for item in found.values():
            yield item

    async def _read(self, space: tuple[str, ...], kind: type[M]) -> AsyncIterator[tuple[SearchItem, M]]:
        async for item in self._items(space):
            try:
                yield item, kind.model_validate(item.value)
            except ValidationError as error:
                log.warning("an item of the memory is no %s: %s", kind.__name__, error.errors()[0]["msg"])
