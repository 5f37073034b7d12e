"""One long-running process with an open standard input: what a stdio server needs."""

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Final

from skerry_api.sandboxd_api import ProcessRequest, ProcessState, Reason
from skerry_api.sandboxd_events import Event, ExitEvent, LostEvent, OutputEvent, StartedEvent
from skerry_sandboxd.clock import Clock
from skerry_sandboxd.errors import ApiError
from skerry_sandboxd.execution import follow
from skerry_sandboxd.output import WindowLog
from skerry_sandboxd.pump import Pump
from skerry_sandboxd.spawn import Child, Command, Spawner, SupervisorLost

__all__ = ["Process"]

_SETTLE_SECONDS: Final = 0.1


class Process:
    """Start it once. Output nobody reads makes it wait, as a full pipe would; nothing of it is dropped."""

    def __init__(self, request: ProcessRequest, mark: str, clock: Clock) -> None:
        self.key: Final = request.key
        self.fingerprint: Final = mark
        self.started: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.end: ExitEvent | LostEvent | None = None
        self.ended = asyncio.Event()
        self.log: Final = WindowLog(request.buffer_bytes, self._pause)
        self._clock = clock
        self._child: Child | None = None
        self._pumps: tuple[Pump, ...] = ()
        self._stdin: int | None = None
        self._stdin_offset = 0
        self._stdin_lock = asyncio.Lock()
        self._killed = False

    @property
    def state(self) -> ProcessState:
        return ProcessState(
            key=self.key,
            pid=self._child.pid if self._child else 0,
            running=not self.ended.is_set(),
            stdin_offset=self._stdin_offset,
            exit=self.end if isinstance(self.end, ExitEvent) else None,
        )

    @property
    def tree_alive(self) -> bool:
        """Something of it runs: itself, or what it left behind."""
        return self._child is not None and not self._child.gone.is_set()

    async def start(self, spawner: Spawner, command: Command) -> None:
        """Start the process. Raises SpawnError or SupervisorLost."""
        in_read, in_write = os.pipe2(os.O_CLOEXEC)
        out_read, out_write = os.pipe2(os.O_CLOEXEC)
        err_read, err_write = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(in_write, False)
        self._pumps = (
            Pump(out_read, lambda data: self.log.append("stdout", data)),
            Pump(err_read, lambda data: self.log.append("stderr", data)),
        )
        try:
            self._child = await spawner.spawn(command, stdin=in_read, stdout=out_write, stderr=err_write)
        except BaseException:
            os.close(in_write)
            for pump in self._pumps:
                pump.close()
            raise
        finally:
            for fd in (in_read, out_write, err_write):
                os.close(fd)
        self._stdin = in_write
        self.started.set_result(self._child.pid)

    async def run(self, spawner: Spawner) -> None:
        """Wait for the exit and set `end`."""
        child = self._child
        if child is None:
            raise RuntimeError("run before start")
        began = self._clock.monotonic()
        try:
            status = await child.exit
        except SupervisorLost:
            await spawner.end_strays(child)
            self.end = LostEvent(message="the process's supervisor was killed from inside the sandbox")
        else:
            self.end = ExitEvent(
                code=status.code,
                signal=status.signal,
                killed=self._killed,
                duration_ms=int((self._clock.monotonic() - began) * 1000),
            )
        self.close_stdin()
        # A paused pump still has output to give; readers take it, and the log is finished when it is all there.
        self.ended.set()
        await self._read_out()
        self.log.finish()

    async def _read_out(self) -> None:
        waits = [asyncio.create_task(pump.ended.wait()) for pump in self._pumps]
        await asyncio.wait(waits, timeout=_SETTLE_SECONDS)
        for wait in waits:
            wait.cancel()
        for pump in self._pumps:
            pump.drain()
            pump.discard()

    def _pause(self, on: bool) -> None:
        for pump in self._pumps:
            pump.pause(on=on)

    async def write(self, data: bytes, offset: int | None, *, eof: bool, patience: float) -> int:
        """Feed standard input; returns its offset afterwards.

        With `offset`, a repeated write is recognised and not fed twice. Waits up to `patience` seconds for
        the process to read; what it did not take is told by the returned offset. Raises ApiError.
        """
        async with self._stdin_lock:
            if offset is not None:
                if offset > self._stdin_offset:
                    raise ApiError(
                        Reason.OFFSET_CONFLICT,
                        f"standard input stands at {self._stdin_offset}",
                        field="offset",
                    )
                data = data[self._stdin_offset - offset :]
            if self._stdin is None and data:
                raise ApiError(Reason.ENDED, "standard input is closed")
            whole = await self._feed(data, patience)
            if eof and whole:
                self.close_stdin()
            return self._stdin_offset

    async def _feed(self, data: bytes, patience: float) -> bool:
        try:
            async with asyncio.timeout(patience):
                view = memoryview(data)
                while view and self._stdin is not None:
                    try:
                        count = os.write(self._stdin, view)
                    except BlockingIOError:
                        await _writable(self._stdin)
                        continue
                    except BrokenPipeError:
                        self.close_stdin()
                        raise ApiError(Reason.ENDED, "the process closed its standard input") from None
                    self._stdin_offset += count
                    view = view[count:]
        except TimeoutError:
            return False
        return True

    def close_stdin(self) -> None:
        if self._stdin is not None:
            asyncio.get_running_loop().remove_writer(self._stdin)
            os.close(self._stdin)
            self._stdin = None

    async def signal(self, number: int, *, tree: bool) -> int:
        """Signal the process's group or tree. Returns how many got it."""
        if self._child is None:
            return 0
        send = self._child.signal_tree if tree else self._child.signal_group
        return await asyncio.to_thread(send, number)

    async def kill(self, grace: float) -> None:
        if self._child is not None and not self._child.gone.is_set():
            self._killed = self.end is None
            await self._child.end_tree(grace)
        await self.ended.wait()

    async def events(self, after: int) -> AsyncIterator[Event]:
        """Output from `after` on, then the end. Following is what makes room for more."""
        yield StartedEvent(key=self.key, pid=await asyncio.shield(self.started))
        async for event in follow(self.log, after):
            yield event
            if isinstance(event, OutputEvent):
                self.log.sent(event.offset + len(event.raw))
        if self.end is not None:
            yield self.end


async def _writable(fd: int) -> None:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()

    def on_writable() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_writer(fd, on_writable)
    try:
        await ready
    finally:
        loop.remove_writer(fd)
