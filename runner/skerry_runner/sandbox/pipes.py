"""Read a pipe as the loop finds bytes in it; for the Local provider."""

import asyncio
import os
from collections.abc import Callable
from typing import Final

__all__ = ["PipeReader"]

_CHUNK: Final = 64 * 1024


class PipeReader:
    """Reads `fd` (ours from now on) until its end; `ended` is set then and `fd` closed."""

    def __init__(self, fd: int, sink: Callable[[bytes], None]) -> None:
        self._fd = fd
        self._sink: Callable[[bytes], None] | None = sink
        self._loop = asyncio.get_running_loop()
        self.ended = asyncio.Event()
        os.set_blocking(fd, False)
        self._loop.add_reader(fd, self._read)

    def release(self) -> None:
        """Take what stands in the pipe; what comes later is read and dropped, so that its writer lives on."""
        while self._read():
            pass
        self._sink = None

    def close(self) -> None:
        if not self.ended.is_set():
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self.ended.set()

    def _read(self) -> bool:
        data = b""
        if not self.ended.is_set():
            try:
                data = os.read(self._fd, _CHUNK)
            except BlockingIOError:
                return False
            except OSError:
                data = b""
            if not data:
                self.close()
        if data and self._sink is not None:
            self._sink(data)
        return bool(data)
