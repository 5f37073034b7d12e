"""Files that wait for a sandbox: given by a person or too long for a message, pushed when one is acquired."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from skerry_runner.events import FileStaged
from skerry_runner.ports import JournalPort, ThreadFiles
from skerry_runner.sandbox.errors import PathError, PathNotFound, SandboxError
from skerry_runner.sandbox.types import Sandbox
from skerry_runner.waiting import NotKept, WaitingFiles

__all__ = ["STAGED_MAX", "Staging", "StagingFull"]

STAGED_MAX = 64 * 1024 * 1024
"""The most that waits in memory, in bytes."""


log = logging.getLogger(__name__)


class StagingFull(SandboxError):
    """No room is left in memory for what waits."""


@dataclass
class _Waiting:
    data: bytes
    keep: bool
    only_missing: bool
    done: bool = False


@dataclass
class _Tree:
    files: Mapping[str, bytes]
    done: bool = False


class Staging:
    """Each path once, the newest content. Not more than one push at a time: the session's lock sees to that."""

    def __init__(self, journal: JournalPort, *, most: int = STAGED_MAX) -> None:
        self._journal = journal
        self._most = most
        self._files: dict[str, _Waiting] = {}
        self._trees: dict[str, _Tree] = {}
        self._kept: WaitingFiles = NotKept()
        self._left: dict[str, bytes] = {}

    @property
    def pending(self) -> bool:
        """Whether a sandbox lacks something."""
        return any(not tree.done for tree in self._trees.values()) or any(
            not file.done for file in self._files.values()
        )

    def add(self, path: str, data: bytes, *, keep: bool = False, only_missing: bool = False) -> None:
        """Have `path` in the sandbox from the next acquire on.

        Args:
            path: virtual and absolute.
            data: the whole file.
            keep: push it again into a sandbox that replaces a lost one.
            only_missing: leave a file alone that is there already.

        Raises:
            StagingFull: too much is waiting.
        """
        held = sum(len(file.data) for other, file in self._files.items() if other != path)
        if held + len(data) > self._most:
            raise StagingFull(f"{path}: {len(data)} bytes are too many to wait for a sandbox")
        self._files[path] = _Waiting(data, keep, only_missing)

    async def entrust(self, path: str, data: bytes, *, keep: bool = False) -> None:
        """As `add`; if no sandbox comes, a later epoch or run of the thread has it in its sandbox.

        Raises:
            StagingFull: too much is waiting.
        """
        self.add(path, data, keep=keep)
        await self._kept.put(path, data)

    async def keep_in(self, kept: WaitingFiles) -> Collection[str]:
        """Keep in this place what waits from now on; the paths of what has waited there so far."""
        self._kept = kept
        self._left = dict(await kept.load())
        return self._left.keys()

    def recall(self) -> None:
        """Have what has waited so far wait on, but for what there is a newer content of."""
        for path, data in self._left.items():
            if path in self._files:
                continue
            try:
                self.add(path, data)
            except StagingFull as error:
                log.warning("it waits for a later run: %s", error)
        self._left = {}

    def install(self, root: str, files: Mapping[str, bytes]) -> None:
        """Have exactly `files` in the read-only directory `root` from the next acquire on, in every sandbox."""
        self._trees[root] = _Tree(files)

    def lost(self) -> None:
        """The sandbox is another one now: what it lacks is pushed anew; what survived is left alone."""
        for tree in self._trees.values():
            tree.done = False
        for file in self._files.values():
            file.done, file.only_missing = False, True

    async def push(self, sandbox: Sandbox) -> None:
        """Write what waits. A file that can't be written is journaled and not tried again.

        Raises:
            SandboxError: the sandbox did not answer; what is left waits for the next push.
        """
        for root, tree in self._trees.items():
            if not tree.done:
                await self._install(sandbox, root, tree)
        await self.push_files(sandbox)

    async def push_files(self, files: ThreadFiles) -> None:
        """Write what waits, but for the directories, which need a sandbox. As `push` otherwise."""
        for path, file in list(self._files.items()):
            if file.done:
                continue
            status, error = "kept", None
            try:
                if not file.only_missing or not await _exists(files, path):
                    await files.write_file(path, file.data)
                    status = "pushed"
            except PathError as refused:
                status, error = "failed", str(refused)
            self._journal.emit(FileStaged(path=path, size=len(file.data), status=status, error=error))
            file.done = True
            # Somebody may have staged another content meanwhile.
            if self._files.get(path) is file:
                if not file.keep:
                    del self._files[path]
                await self._kept.drop(path)

    async def _install(self, sandbox: Sandbox, root: str, tree: _Tree) -> None:
        status, error = "pushed", None
        try:
            await sandbox.install(root, tree.files)
        except PathError as refused:
            status, error = "failed", str(refused)
        size = sum(len(data) for data in tree.files.values())
        self._journal.emit(FileStaged(path=root, size=size, status=status, error=error))
        tree.done = True


async def _exists(files: ThreadFiles, path: str) -> bool:
    try:
        await files.stat(path)
    except PathNotFound:
        return False
    return True
