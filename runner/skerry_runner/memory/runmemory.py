"""What one run does with memory: reads at its start, keeps a snapshot, draws facts at its end. Never costs the run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from datetime import timedelta

from langgraph.errors import GraphBubbleUp
from langgraph.store.base import BaseStore
from typing_extensions import override

from skerry_api.rows.memory import MemoryFlush, MemorySettings
from skerry_runner.events import MemoryEnqueued, MemoryUpdated, PipelineFault, clip
from skerry_runner.memory.book import MemoryBook, Owner, Pending
from skerry_runner.memory.facts import Fact, ranked
from skerry_runner.memory.queue import MemoryQueue
from skerry_runner.memory.snapshot import Snapshot, SnapshotKey
from skerry_runner.memory.source import MemoryKeeper, MemorySource
from skerry_runner.memory.update import Ask, Updated, due_groups, flush_group
from skerry_runner.outcome import RunEnded
from skerry_runner.ports import Clock, JournalPort

__all__ = ["KEEP_SECONDS", "OpenStore", "RunMemory", "recalled", "updated_event"]

OpenStore = Callable[[], AbstractAsyncContextManager[BaseStore]]
"""Opens the store of memories, set up. May raise anything."""
KEEP_SECONDS = 5.0
"""How long the agent waits until its snapshot is written."""
CLOSE_SECONDS = 5.0
ROW = "Memory"
LEAD = "lead"
log = logging.getLogger(__name__)


def recalled(facts: list[Fact]) -> str:
    """Facts as the agent reads them, one a line; the surest first, since a budget cuts off the end."""
    return "\n".join(f"- {fact.content} ({fact.category.value})" for fact in ranked(facts))


def updated_event(updated: Updated) -> MemoryUpdated:
    """The journal's line on an update."""
    return MemoryUpdated(
        status="updated" if updated.error is None else "failed",
        of_thread=updated.key.thread,
        added=updated.added,
        removed=updated.removed,
        error=None if updated.error is None else clip(updated.error),
        dropped=updated.dropped,
    )


class RunMemory(MemorySource, MemoryKeeper):
    """Opens the store when it is needed. `close` it in the end."""

    def __init__(
        self,
        open_store: OpenStore,
        *,
        namespace: str,
        profile: str,
        epoch: int,
        settings: MemorySettings,
        journal: JournalPort,
        clock: Clock,
        keep_seconds: float = KEEP_SECONDS,
    ) -> None:
        self._keep_seconds = keep_seconds
        self._open_store = open_store
        self._namespace, self._profile, self._settings = namespace, profile, settings
        self._journal, self._clock, self._epoch = journal, clock, epoch
        self._opened: MemoryBook | None = None
        self._opening = asyncio.Lock()
        self._exit = AsyncExitStack()
        self.queue = MemoryQueue(self._keep)

    @override
    async def recall(self, *, thread: str, user: str, agent: str) -> str:
        # Not left open: an idle connection is often dead by the end of a long run.
        async with self._open_store() as store:
            facts = await MemoryBook(store, self._namespace).facts(Owner(user, self._name(agent)))
        return recalled(facts)

    def _name(self, agent: str) -> str:
        return self._settings.agent if agent == LEAD else agent

    @override
    def key(self, *, thread: str, user: str, agent: str) -> SnapshotKey:
        return SnapshotKey(thread, user, self._name(agent))

    @override
    async def remember(self, snapshot: Snapshot) -> None:
        """Have a snapshot written, so that it outlives this process."""
        self.queue.enqueue(snapshot)
        self._journal.emit(
            MemoryEnqueued(
                exchanges=len(snapshot.fresh),
                chars=sum(len(e.user) + len(e.answer) for e in snapshot.fresh),
                correction=snapshot.correction,
                reinforcement=snapshot.reinforcement,
                flush=self._settings.flush.value,
            )
        )
        if (error := await self.queue.settle(self._keep_seconds)) is not None:
            # Perhaps it was the connection; the end of the run tries another one.
            await self.close()
            self._fault("after_agent", error, f"the snapshot was not written within {self._keep_seconds:g} s")

    async def finish(self, ask: Ask, *, thread: str, user: str) -> None:
        """Draw facts, if that is to be done at the end: from this thread, and from what is due of the user's others.

        Raises:
            RunEnded, GraphBubbleUp: as `ask` does.
        """
        if self._settings.flush is not MemoryFlush.AT_END:
            return
        seconds = self._settings.flush_timeout_seconds
        try:
            async with asyncio.timeout(seconds):
                await self._flush(ask, thread, user)
        except (GraphBubbleUp, RunEnded):
            raise
        except Exception as error:  # noqa: BLE001 - a store that fails must not cost the run
            self._fault("flush", error, f"no update within {seconds} s: it is left for later")

    async def _flush(self, ask: Ask, thread: str, user: str) -> None:
        if (error := await self.queue.settle(self._settings.flush_timeout_seconds)) is not None:
            raise error
        book = await self._book()
        waiting = await book.waiting(Owner(user, self._settings.agent))
        for group in due_groups(waiting, self._clock(), thread=thread, profile=self._profile):
            updated = await flush_group(book, group, ask, self._settings, self._clock())
            self._journal.emit(updated_event(updated))

    async def close(self) -> None:
        """Close the store, if it is open; who needs it later opens another."""
        self._opened = None
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._exit.aclose()
        except Exception as error:  # noqa: BLE001 - what was written is written
            log.warning("the store of memories could not be closed: %s", error)

    async def _keep(self, snapshot: Snapshot) -> None:
        settings = self._settings
        seconds = settings.debounce_seconds
        if settings.flush is MemoryFlush.AT_END:
            # Its own run is about to do it.
            seconds += settings.flush_timeout_seconds
        due = self._clock() + timedelta(seconds=seconds)
        book = await self._book()
        await book.keep(Pending(snapshot=snapshot, profile=self._profile, due=due, epoch=self._epoch))

    async def _book(self) -> MemoryBook:
        async with self._opening:
            if self._opened is None:
                store = await self._exit.enter_async_context(self._open_store())
                self._opened = MemoryBook(store, self._namespace)
            return self._opened

    def _fault(self, hook: str, error: BaseException, words: str) -> None:
        self._journal.emit(
            PipelineFault(row=ROW, hook=hook, error=type(error).__name__, message=clip(str(error) or words))
        )
