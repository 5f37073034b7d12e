"""The run's one sandbox: acquired when first needed, shared by tools and subagents, let go on every way out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from skerry_runner.events import SandboxAcquired, SandboxReleased, SandboxReplaced
from skerry_runner.outcome import RunEnded, cancelled, sandbox_lost
from skerry_runner.ports import CancelReason, JournalPort, Reporter, SandboxLost, SandboxProvider, ThreadFiles
from skerry_runner.sandbox.errors import SandboxError, SandboxFenced, SandboxProtocolError
from skerry_runner.sandbox.errors import SandboxReplaced as SandboxReplacedError
from skerry_runner.sandbox.types import Sandbox
from skerry_runner.staging import Staging

__all__ = ["LOST_BEFORE", "SandboxSession"]

LOST_BEFORE = (
    "[The sandbox was replaced since you last used it: files that are not on a persistent volume are lost, and so is "
    "what was running. Check what is there before you rely on it.]"
)
log = logging.getLogger(__name__)


class SandboxSession:
    """Counts its holders (the lead, subagents); the last one to leave lets go of the sandbox."""

    def __init__(self, provider: SandboxProvider, reporter: Reporter, journal: JournalPort) -> None:
        self._provider = provider
        self._reporter = reporter
        self._journal = journal
        self._lock = asyncio.Lock()
        self._held: Sandbox | None = None
        self._holders = 0
        self._paths: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.staging = Staging(journal)
        """Files that the sandbox gets before anybody works in it."""
        self._leaving: list[Callable[[], Awaitable[None]]] = []
        self.last_id: str | None = None
        """Id of the sandbox this run has worked in; stays after release."""
        self._before: str | None = None
        self._lost: bool | None = None
        self._told: set[str] = set()

    async def acquire(self) -> Sandbox:
        """The sandbox; got from the provider by the first who asks.

        Raises:
            SandboxError: none could be had this time.
            RunEnded: none will be: SandboxLost.
        """
        if self._held is not None and not self.staging.pending:
            return self._held
        async with self._lock:
            if self._held is None:
                try:
                    sandbox = await self._provider.acquire()
                except SandboxLost as error:
                    raise RunEnded(sandbox_lost(str(error))) from error
                self._held, self.last_id = sandbox, sandbox.id
                self._journal.emit(SandboxAcquired(sandbox_id=sandbox.id))
                await self._reporter.sandbox_acquired(sandbox.id)
            held = self._held
            while self.staging.pending:
                await self.staging.push(held)
            return held

    @property
    def thread_files(self) -> ThreadFiles | None:
        """The thread's files, as far as they can be reached without acquiring a sandbox."""
        return self._held or self._provider.thread_files

    async def put_file(self, path: str, data: bytes) -> None:
        """Write a file where the agent will find it; acquires nothing, at worst the file waits for a sandbox.

        Raises:
            SandboxError: it could not be written, or is not there afterwards as it should be.
        """
        files = self.thread_files
        if files is None:
            await self.staging.entrust(path, data)
            return
        await files.write_file(path, data)
        size = (await files.stat(path)).size
        if size != len(data):
            raise SandboxProtocolError(f"{path} has {size} bytes after {len(data)} were written")

    async def write_through(self) -> None:
        """Write what waits, if that needs no sandbox; what can't be written waits on."""
        files = self.thread_files
        if files is None:
            return
        async with self._lock:
            try:
                await self.staging.push_files(files)
            except SandboxError as error:
                log.warning("files wait for the sandbox: %s", error)

    def path_lock(self, path: str) -> asyncio.Lock:
        """The lock for whoever reads a file to write it again; the same for all who hold one of this path."""
        return self._paths.setdefault(path, asyncio.Lock())

    def replaced(self, message: str) -> None:
        """Somebody found that another sandbox stands behind the id."""
        self._journal.emit(SandboxReplaced(sandbox_id=self.last_id or "", message=message))
        self.staging.lost()

    def worked_in(self, pod_uid: str | None) -> None:
        """Before the first acquire: the Pod that the thread's agent knows from earlier epochs and runs."""
        self._before = pod_uid

    @property
    def pod_uid(self) -> str | None:
        """UID of the Pod that the sandbox was last heard from in this epoch; None where its files always stay."""
        return self._held.pod_uid if self._held is not None else None

    def lost_before(self, execution: str) -> str | None:
        """Words for an agent (a subagent's execution, or "" for the lead), once for each: the thread's files were lost
        before this epoch. A loss within it is the result of the call that met it.
        """
        if self._lost is None:
            if (pod := self.pod_uid) is None:
                return None
            self._lost = self._before not in {None, pod}
            if self._lost:
                self._journal.emit(SandboxReplaced(sandbox_id=self.last_id or "", message=LOST_BEFORE))
        if not self._lost or execution in self._told:
            return None
        self._told.add(execution)
        return LOST_BEFORE

    def on_release(self, leave: Callable[[], Awaitable[None]]) -> None:
        """Have `leave` called before the sandbox is let go of, while there is still one to clean up in."""
        self._leaving.append(leave)

    def note(self, error: SandboxError) -> None:
        """What a row that can do without the sandbox owes the run when a call of it failed.

        Raises:
            RunEnded: there is no sandbox any more, or a newer runner has it.
        """
        if isinstance(error, SandboxFenced):
            raise RunEnded(cancelled(CancelReason.FENCED)) from error
        if isinstance(error, SandboxLost):
            raise RunEnded(sandbox_lost(str(error))) from error
        if isinstance(error, SandboxReplacedError):
            self.replaced(str(error))

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """Be a holder for the time of the block, whichever way it ends."""
        self._holders += 1
        try:
            yield
        finally:
            self._holders -= 1
            if self._holders == 0:
                await self._release()

    async def leave(self) -> None:
        """A holder is done with the sandbox early; others keep it. Idempotent."""
        if self._holders <= 1:
            await self._release()

    async def _release(self) -> None:
        for leave in self._leaving if self._held is not None else ():
            try:
                await leave()
            except Exception:
                log.exception("what works in the sandbox could not be ended")
        async with self._lock:
            held, self._held = self._held, None
            if held is None:
                return
            try:
                await self._provider.release()
            except Exception:
                # What became of the run does not depend on it: who holds a sandbox is derived from live runs.
                log.exception("sandbox %s could not be released", held.id)
            self._journal.emit(SandboxReleased(sandbox_id=held.id))
