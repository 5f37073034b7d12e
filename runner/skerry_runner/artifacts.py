"""Files that the agent presents: hashed as they are at that moment, and copied to where they outlive the sandbox."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from typing_extensions import override

__all__ = ["FILE_MAX", "ArtifactDirectory", "ArtifactKeeper", "HashedOnly", "Taken", "keeper_of", "take"]

FILE_MAX = 64 * 1024 * 1024
"""Largest file that is hashed and copied, in bytes."""
RUN_MAX = 256 * 1024 * 1024
"""What is kept of one run, in bytes."""
ARTIFACTS_FOLDER = "artifacts"
"""On the state volume; below it a folder of each run's UID."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a file: bytes read, their SHA-256 in hex (None: too large to be read), whether a copy is kept."""

    size: int
    sha256: str | None
    kept: bool


class ArtifactKeeper(Protocol):
    """Where copies go. One file at a time is no promise: calls may overlap."""

    async def keep(self, chunks: AsyncIterator[bytes]) -> Taken:
        """Hash the content, and keep it where that can be. Raises only what `chunks` raises."""
        ...


class HashedOnly(ArtifactKeeper):
    """There is nowhere to keep anything."""

    @override
    async def keep(self, chunks: AsyncIterator[bytes]) -> Taken:
        digest, size = hashlib.sha256(), 0
        async for chunk in chunks:
            digest.update(chunk)
            size += len(chunk)
        return Taken(size, digest.hexdigest(), kept=False)


class ArtifactDirectory(ArtifactKeeper):
    """Keeps each content once, under the name of its SHA-256. A full disk costs the copy, never the run."""

    def __init__(self, folder: Path, *, most: int = RUN_MAX) -> None:
        """`folder` is the run's alone; `most` bytes are kept in it."""
        self._folder, self._most = folder, most

    @override
    async def keep(self, chunks: AsyncIterator[bytes]) -> Taken:
        copy = _Copy(await asyncio.to_thread(self._open))
        digest, size = hashlib.sha256(), 0
        try:
            async for chunk in chunks:
                digest.update(chunk)
                size += len(chunk)
                await asyncio.to_thread(copy.write, chunk)
            kept = await asyncio.to_thread(self._settle, copy, digest.hexdigest(), size)
        finally:
            copy.drop()
        return Taken(size, digest.hexdigest(), kept)

    def _open(self) -> IO[bytes] | None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            return tempfile.NamedTemporaryFile(dir=self._folder, prefix=".part-", delete=False)
        except OSError as error:
            log.warning("artifacts can't be kept: %s", error)
            return None

    def _settle(self, copy: _Copy, name: str, size: int) -> bool:
        target = self._folder / name
        if copy.lost:
            return False
        if target.exists():
            return True
        there = sum(each.stat().st_size for each in self._folder.iterdir() if not each.name.startswith("."))
        if there + size > self._most:
            log.warning(
                "an artifact of %d bytes is not kept: the run's share of %d is used", size, self._most
            )
            return False
        return copy.become(target)


def keeper_of(volume: Path | None, run: str) -> ArtifactKeeper:
    """The keeper of a run's artifacts on the thread's state volume; None: there is none."""
    return HashedOnly() if volume is None else ArtifactDirectory(volume / ARTIFACTS_FOLDER / run)


class _Copy:
    """A temporary file that becomes the copy, or goes. None: it could not even be made."""

    def __init__(self, file: IO[bytes] | None) -> None:
        self._file = file

    @property
    def lost(self) -> bool:
        return self._file is None

    def write(self, chunk: bytes) -> None:
        if self._file is None:
            return
        try:
            self._file.write(chunk)
        except OSError as error:
            log.warning("an artifact can't be kept: %s", error)
            self.drop()

    def become(self, target: Path) -> bool:
        if self._file is None:
            return False
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            Path(self._file.name).rename(target)
        except OSError as error:
            log.warning("an artifact can't be kept: %s", error)
            return False
        self._file.close()
        self._file = None
        return True

    def drop(self) -> None:
        if self._file is None:
            return
        name = self._file.name
        try:
            self._file.close()
        except OSError:
            log.warning("%s: what was written last is lost", name)
        Path(name).unlink(missing_ok=True)
        self._file = None


async def take(keeper: ArtifactKeeper, chunks: AsyncIterator[bytes], size: int) -> Taken:
    """Take a file that is said to be of `size` bytes; one that is too large, or grows to be, is not kept."""
    if size > FILE_MAX:
        return Taken(size, None, kept=False)
    try:
        return await keeper.keep(_bounded(chunks))
    except _TooLarge as error:
        return Taken(error.size, None, kept=False)


class _TooLarge(Exception):
    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


async def _bounded(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    size = 0
    async for chunk in chunks:
        size += len(chunk)
        if size > FILE_MAX:
            raise _TooLarge(size)
        yield chunk
