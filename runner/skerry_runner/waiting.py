"""Files that no sandbox has had yet, kept beside the checkpoints: the thread's next run may be the first to need one."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from typing_extensions import override

__all__ = ["WAITING_FOLDER", "WAITING_MAX", "NotKept", "WaitingDirectory", "WaitingFiles"]

WAITING_MAX = 64 * 1024 * 1024
"""The most that is kept of a thread, in bytes."""
WAITING_FOLDER = "waiting"
"""On the state volume."""
log = logging.getLogger(__name__)


class WaitingFiles(Protocol):
    """By virtual path, the newest content. All methods raise RunEnded, where state as such can't be had."""

    async def load(self) -> Mapping[str, bytes]:
        """What earlier epochs and runs of the thread have left, the newest first."""
        ...

    async def put(self, path: str, data: bytes) -> None:
        """Keep it, if there is room; what can't be kept still reaches this epoch's sandbox."""
        ...

    async def drop(self, path: str) -> None:
        """A sandbox has it. Nothing, if it is not kept."""
        ...


class NotKept(WaitingFiles):
    """There is nowhere; nor is there a history that could speak of a file."""

    @override
    async def load(self) -> Mapping[str, bytes]:
        return {}

    @override
    async def put(self, path: str, data: bytes) -> None: ...

    @override
    async def drop(self, path: str) -> None: ...


class WaitingDirectory(WaitingFiles):
    """A file for each: a line of JSON with its path, then its bytes. A full disk costs the copy, never the run."""

    def __init__(self, folder: Path, *, most: int = WAITING_MAX) -> None:
        self._folder, self._most = folder, most

    @override
    async def load(self) -> Mapping[str, bytes]:
        return await asyncio.to_thread(self._load)

    @override
    async def put(self, path: str, data: bytes) -> None:
        await asyncio.to_thread(self._put, path, data)

    @override
    async def drop(self, path: str) -> None:
        await asyncio.to_thread(self._drop, path)

    def _at(self, path: str) -> Path:
        return self._folder / hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()

    def _load(self) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for each in sorted(self._kept(), key=lambda each: each.stat().st_mtime_ns, reverse=True):
            try:
                head, _, data = each.read_bytes().partition(b"\n")
                found[str(json.loads(head)["path"])] = data
            except (OSError, ValueError, KeyError, TypeError) as error:
                log.warning("what waits for a sandbox in %s can't be read: %s", each, error)
        return found

    def _kept(self) -> list[Path]:
        return [each for each in self._folder.iterdir() if each.suffix == ""] if self._folder.is_dir() else []

    def _put(self, path: str, data: bytes) -> None:
        target = self._at(path)
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            held = sum(each.stat().st_size for each in self._kept() if each != target)
            if held + len(data) > self._most:
                log.warning("%s is not kept for later runs: too much waits for a sandbox already", path)
                return
            with tempfile.NamedTemporaryFile(dir=self._folder, suffix=".part", delete=False) as file:
                part = Path(file.name)
                try:
                    file.write(json.dumps({"path": path}).encode() + b"\n" + data)
                    file.flush()
                    os.fsync(file.fileno())
                    part.rename(target)
                finally:
                    part.unlink(missing_ok=True)
        except OSError as error:
            log.warning("%s is not kept for later runs: %s", path, error)

    def _drop(self, path: str) -> None:
        try:
            self._at(path).unlink(missing_ok=True)
        except OSError as error:
            log.warning("%s may be written to a sandbox again: %s", path, error)
