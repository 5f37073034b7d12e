"""One execution: a command on its way from start to exit, with its output, timeout and tree."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from typing import Final

from skerry_api.sandboxd_api import ExecutionRequest
from skerry_api.sandboxd_events import (
    KEEP_ALIVE_SECONDS,
    Event,
    ExitEvent,
    GapEvent,
    LostEvent,
    OutputEvent,
    PingEvent,
    StartedEvent,
)
from skerry_sandboxd.clock import Clock
from skerry_sandboxd.output import CappedLog, OutputLog, Piece
from skerry_sandboxd.pump import Pump
from skerry_sandboxd.spawn import Child, Command, ExitStatus, Spawner, SupervisorLost

__all__ = ["Execution", "follow", "stdin_file"]

# How long the pipes may stay open after the exit before we call the output complete: what a command left
# running in the background holds them open for ever.
_SETTLE_SECONDS: Final = 0.1


def stdin_file(data: bytes) -> int:
    """A descriptor at the start of a memory file that holds `data`."""
    fd = os.memfd_create("stdin")
    with os.fdopen(os.dup(fd), "wb") as file:
        file.write(data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


class Execution:
    """Made by the registry; `start` once, then `end` is set when the exit is known. Survives its callers."""

    def __init__(self, request: ExecutionRequest, fingerprint: str, clock: Clock) -> None:
        self.key: Final = request.key
        self.fingerprint: Final = fingerprint
        self.log: Final = CappedLog(request.max_output_bytes)
        self.started: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.end: ExitEvent | LostEvent | None = None
        self._request = request
        self._clock = clock
        self._child: Child | None = None
        self._pumps: tuple[Pump, ...] = ()
        self._killed = False
        self._abandoned = False

    @property
    def tree_alive(self) -> bool:
        """Something of it runs: the command, or what it left in the background."""
        return self._child is not None and not self._child.gone.is_set()

    async def start(self, spawner: Spawner, command: Command) -> None:
        """Start the command. Raises SpawnError (it did not run) or SupervisorLost (it may have)."""
        stdin = None if self._request.stdin is None else stdin_file(self._request.stdin.raw)
        out_read, out_write = os.pipe2(os.O_CLOEXEC)
        err_read, err_write = os.pipe2(os.O_CLOEXEC)
        self._pumps = (
            Pump(out_read, lambda data: self.log.append("stdout", data)),
            Pump(err_read, lambda data: self.log.append("stderr", data)),
        )
        try:
            self._child = await spawner.spawn(command, stdin=stdin, stdout=out_write, stderr=err_write)
        except BaseException:
            for pump in self._pumps:
                pump.close()
            raise
        finally:
            for fd in (out_write, err_write, *(() if stdin is None else (stdin,))):
                os.close(fd)
        self.started.set_result(self._child.pid)

    async def run(self, spawner: Spawner, kill_grace: float) -> None:
        """Wait for the exit, enforce the timeout, close the log and set `end`."""
        child = self._child
        if child is None:
            raise RuntimeError("run before start")
        began = self._clock.monotonic()
        timed_out = False
        status: ExitStatus | None = None
        try:
            status = await self._exit(child)
        except TimeoutError:
            timed_out = True
            await child.end_tree(kill_grace)
            status = await self._exit_after_kill(child)
        except SupervisorLost:
            await spawner.end_strays(child)
        await self._settle()
        self.log.finish()
        if self._abandoned:
            return
        if status is None:
            self.end = LostEvent(message="the command's supervisor was killed from inside the sandbox")
            return
        self.end = ExitEvent(
            code=status.code,
            signal=status.signal,
            timed_out=timed_out,
            killed=self._killed and not timed_out,
            truncated=self.log.dropped > 0,
            duration_ms=int((self._clock.monotonic() - began) * 1000),
        )

    async def kill(self, grace: float) -> None:
        """End the whole tree, also what an ended command left behind."""
        if self._child is not None and not self._child.gone.is_set():
            self._killed = self.end is None
            await self._child.end_tree(grace)

    async def abandon(self, grace: float) -> None:
        """End the tree because the sandbox itself ends. Followers get no end: their stream breaks off.

        An exit by our own signal would read like the command's answer; a broken stream makes the client ask
        what became of the sandbox.
        """
        self._abandoned = self.end is None
        await self.kill(grace)

    async def _exit(self, child: Child) -> ExitStatus:
        async with asyncio.timeout(self._request.timeout_seconds):
            return await asyncio.shield(child.exit)

    async def _exit_after_kill(self, child: Child) -> ExitStatus | None:
        try:
            return await child.exit
        except SupervisorLost:
            return None

    async def _settle(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SETTLE_SECONDS):
                for pump in self._pumps:
                    await pump.ended.wait()
        for pump in self._pumps:
            pump.drain()
            pump.discard()

    async def events(self, after: int) -> AsyncIterator[Event]:
        """Everything from offset `after` on, then the end; waits for what is still to come."""
        yield StartedEvent(key=self.key, pid=await asyncio.shield(self.started))
        async for event in follow(self.log, after):
            yield event
        if self.end is not None:
            yield self.end


async def follow(log: OutputLog, cursor: int) -> AsyncIterator[Event]:
    """Output from `cursor` until the log is finished, with pings when it is silent."""
    while True:
        changed, finished = log.changed, log.finished
        for item in log.read(cursor):
            cursor = item.end
            if isinstance(item, Piece):
                yield OutputEvent.of(item.stream, item.offset, bytes(item.data))
            else:
                yield GapEvent(offset=item.offset, dropped_bytes=item.dropped)
        if finished:
            return
        try:
            async with asyncio.timeout(KEEP_ALIVE_SECONDS):
                await changed.wait()
        except TimeoutError:
            yield PingEvent()
