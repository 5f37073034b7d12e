"""The thread's files on this machine, for whoever needs no sandbox around them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from typing_extensions import override

from skerry_runner.paths import USER_DATA
from skerry_runner.ports import ThreadFiles
from skerry_runner.sandbox.local_files import LocalFiles
from skerry_runner.sandbox.mounts import Mount, Mounts
from skerry_runner.sandbox.types import FileInfo

__all__ = ["LocalThreadFiles"]


class LocalThreadFiles(ThreadFiles):
    """`folder` is what the agent sees as /mnt/user-data."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._files = LocalFiles(Mounts([Mount(USER_DATA, folder)]))

    @override
    async def read_file(self, path: str, *, offset: int = 0, limit: int | None = None) -> bytes:
        return await asyncio.to_thread(self._files.read, path, offset, limit)

    @override
    async def write_file(self, path: str, data: bytes, *, append: bool = False) -> int:
        return await asyncio.to_thread(self._files.write, path, data, append=append)

    @override
    async def stat(self, path: str) -> FileInfo:
        return await asyncio.to_thread(self._files.stat, path)
