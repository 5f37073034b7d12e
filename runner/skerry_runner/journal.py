"""The append-only journal: JSON lines to several sinks, written by one thread so that no disk blocks the loop.

Each sink holds a gap-free prefix of the lines: one that fails (a full disk) keeps what it could not write and tries
again with the next line; past a bound it is given up, still without a gap.
"""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import stat
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TextIO

from skerry_runner.events import Event
from skerry_runner.events.base import TEXT_MAX, as_json
from skerry_runner.outcome import Redactor, mapped
from skerry_runner.ports import Clock

__all__ = ["FileSink", "Journal", "OnFault", "Sink", "StreamSink"]

BACKLOG_MAX = 8 * 1024 * 1024
"""What a failing sink keeps in memory before it is given up, in bytes."""
PAUSE = 0.01
"""Seconds in which lines gather once the first is written: a wake-up for each line of a burst costs more than the line."""
log = logging.getLogger(__name__)


OnFault = Callable[[str | None], None]
"""Told what is wrong with the journal, None once all is written again. Called from the journal's thread."""


class Sink(Protocol):
    """Where lines go. Called from the journal's thread alone; may raise OSError, and then nothing was written."""

    @property
    def name(self) -> str:
        """For people."""
        ...

    def write(self, line: bytes) -> None:
        """Append one line, newline included; all of it or an OSError and none of it."""
        ...

    def sync(self) -> None:
        """Return when what was written will survive a crash of the machine; may raise OSError."""
        ...

    def close(self) -> None: ...


class FileSink:
    """Appends to a file; a torn line (of a crash, of a full disk) is cut off.

    Raises:
        OSError: the file can't be opened.
    """

    def __init__(self, path: Path) -> None:
        self.name = path.name
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._end = _end_of_last_line(self._file)
        found = os.fstat(self._file)
        self._lasting = stat.S_ISREG(found.st_mode)
        if found.st_size > self._end:
            os.ftruncate(self._file, self._end)

    def write(self, line: bytes) -> None:
        done = 0
        try:
            while done < len(line):
                done += os.pwrite(self._file, line[done:], self._end + done)
        except OSError:
            if done:
                os.ftruncate(self._file, self._end)
            raise
        self._end += len(line)

    def sync(self) -> None:
        if self._lasting:  # a device, such as /dev/null, refuses
            os.fsync(self._file)

    def close(self) -> None:
        os.close(self._file)


def _end_of_last_line(file: int) -> int:
    end = os.fstat(file).st_size
    while end > 0:
        start = max(0, end - 65_536)
        found = os.pread(file, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


class StreamSink:
    """Writes to a text stream that others may use as well, such as stdout; never closes it."""

    name = "stdout"

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, line: bytes) -> None:
        self._stream.write(line.decode())
        self._stream.flush()

    def sync(self) -> None:
        self._stream.flush()

    def close(self) -> None:
        """The stream belongs to others."""


class _Backed:
    """A sink and what it still has to write. Used by the writer thread alone."""

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self._backlog: deque[bytes] = deque()
        self._size = 0
        self._given_up = False
        self._unwritten: str | None = None
        self._unsynced: str | None = None

    @property
    def fault(self) -> str | None:
        """Why lines are missing in it, or may be after a crash of the machine."""
        return self._unwritten or self._unsynced

    def push(self, line: bytes) -> None:
        if self._given_up:
            return
        self._backlog.append(line)
        self._size += len(line)
        self.drain()
        if self._size > BACKLOG_MAX:
            self._given_up = True
            self._backlog.clear()
            self._unwritten = f"{self._unwritten}; given up: the rest of the journal is not there"
            log.error("%s", self._unwritten)

    def drain(self) -> None:
        while self._backlog:
            try:
                self.sink.write(self._backlog[0])
            except (OSError, ValueError) as error:  # ValueError: the stream was closed by its owner
                if self._unwritten is None:
                    self._unwritten = f"{self.sink.name} can't be written: {error}"
                    log.warning("%s", self._unwritten)
                return
            self._unwritten = None
            self._size -= len(self._backlog.popleft())

    def sync(self) -> None:
        self.drain()
        try:
            self.sink.sync()
        except (OSError, ValueError) as error:
            # Never unsaid: the kernel forgets what it could not write, and the next call succeeds without it.
            if self._unsynced is None:
                self._unsynced = f"{self.sink.name} can't be synced: {error}"
                log.warning("%s", self._unsynced)

    def close(self) -> None:
        self.sync()
        try:
            self.sink.close()
        except OSError as error:
            log.warning("%s can't be closed: %s", self.sink.name, error)


class Journal:
    """The journal of one epoch of one run; a file may hold several, told apart by `run` and `epoch`. `close` it in the end; until then its thread lives.

    `missing` says of a sink that could not be opened why there is none; `on_fault` is told of it at once.
    """

    def __init__(
        self,
        sinks: Sequence[Sink],
        *,
        run: str,
        thread: str,
        epoch: int,
        clock: Clock,
        secrets: Sequence[str | None] = (),
        on_fault: OnFault = lambda _: None,
        missing: str | None = None,
    ) -> None:
        self._of = as_json({"run": run, "epoch": epoch, "thread": thread})[1:-1]
        self._clock = clock
        self._redact = Redactor(secrets)
        self._seq = 1
        self._sinks = [_Backed(sink) for sink in sinks]
        self._on_fault, self._missing, self._told = on_fault, missing, missing
        if missing is not None:
            on_fault(missing)
        self._queue: queue.SimpleQueue[bytes | threading.Event | None] = queue.SimpleQueue()
        self._hurry = threading.Event()
        """Somebody waits for the writer."""
        self._thread = threading.Thread(target=self._write, name="journal", daemon=True)
        self._thread.start()

    def emit(self, event: Event, *, agent: str = "lead") -> None:
        """Append one event; returns at once. Call it from one thread."""
        time = self._clock().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        head = f'{{"seq":{self._seq},"time":"{time}",{self._of},"agent":{as_json(agent)}'
        self._seq += 1
        body = event.json_body()
        # A long one may hold a text that was cut in the middle of a secret.
        if self._redact and (len(body) >= TEXT_MAX or self._redact.found_in_json(body)):
            body = as_json(mapped(event.body(), self._safe))
        self._queue.put(f"{head},{body[1:]}\n".encode("utf-8", "replace"))

    def _safe(self, text: str) -> str:
        redacted = self._redact(text)
        return self._redact.ended(redacted) if len(text) >= TEXT_MAX else redacted

    async def flush(self) -> None:
        """Return when every line emitted so far is written and synced, as far as the sinks can."""
        if not self._thread.is_alive():
            return
        done = threading.Event()
        self._hurry.set()
        self._queue.put(done)
        await asyncio.to_thread(done.wait)

    async def close(self) -> None:
        """Flush, close the sinks, end the thread. Idempotent; emit nothing afterwards."""
        self._hurry.set()
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _write(self) -> None:
        while (item := self._queue.get()) is not None:
            if isinstance(item, bytes):
                for sink in self._sinks:
                    sink.push(item)
                self._tell()
                if self._queue.empty():
                    self._hurry.wait(PAUSE)
            else:
                self._hurry.clear()
                for sink in self._sinks:
                    sink.sync()
                self._tell()
                item.set()
        for sink in self._sinks:
            sink.close()
        self._tell()

    def _tell(self) -> None:
        """Once per change, never per line."""
        fault = self._missing or next((sink.fault for sink in self._sinks if sink.fault), None)
        if fault != self._told:
            self._told = fault
            self._on_fault(fault)
