"""File calls of the Local provider: blocking, on real paths, with errors about virtual ones."""

import contextlib
import errno
import os
import secrets
import shutil
import stat
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from skerry_runner.sandbox import errors
from skerry_runner.sandbox.mounts import Mounts
from skerry_runner.sandbox.types import EntryKind, FileInfo, Listing

__all__ = ["LocalFiles", "translated"]

_MAX_ENTRIES: Final = 10_000
_TEMPORARY: Final = ".skerry-"
_KINDS: Final = {
    stat.S_IFREG: EntryKind.FILE,
    stat.S_IFDIR: EntryKind.DIRECTORY,
    stat.S_IFLNK: EntryKind.SYMLINK,
}
_ERRORS: Final[dict[int, type[errors.PathError]]] = {
    errno.ENOENT: errors.PathNotFound,
    errno.EISDIR: errors.IsADirectory,
    errno.ENOTDIR: errors.NotADirectory,
    errno.EEXIST: errors.NotADirectory,  # a parent to be made is a file
    errno.ENOTEMPTY: errors.DirectoryNotEmpty,
    errno.EACCES: errors.PathPermission,
    errno.EPERM: errors.PathPermission,
    errno.EROFS: errors.ReadOnlyPath,
    errno.ENOSPC: errors.NoSpace,
    errno.EDQUOT: errors.NoSpace,
    errno.EFBIG: errors.FileTooLarge,
    errno.ELOOP: errors.PathForbidden,
    errno.ENXIO: errors.NotARegularFile,
}


@contextlib.contextmanager
def translated(path: str) -> Iterator[None]:
    """An OSError in the block becomes a PathError about `path`, as the agent knows it."""
    try:
        yield
    except OSError as error:
        kind = _ERRORS.get(error.errno or 0, errors.PathError)
        # The OS names the real path; the agent must not see it.
        raise kind(path, f"{path}: {error.strerror or type(error).__name__}") from error


class LocalFiles:
    """Run these in a thread. All raise PathError or InvalidCall."""

    def __init__(self, mounts: Mounts) -> None:
        self._mounts = mounts

    def read(self, path: str, offset: int, limit: int | None) -> bytes:
        real = self._mounts.resolve(path)
        with translated(path):
            # Not blocking: a fifo would wait for a writer for ever.
            fd = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(fd, "rb") as file:
                _must_be_file(path, os.fstat(fd))
                file.seek(offset)
                return file.read(-1 if limit is None else limit)

    def write(self, path: str, data: bytes, *, append: bool) -> int:
        real = self._mounts.resolve(path, write=True)
        with translated(path):
            if real.exists():
                _must_be_file(path, real.stat())
            real.parent.mkdir(parents=True, exist_ok=True)
            return _append(real, data) if append else _replace(real, data)

    def install(self, root: str, files: Mapping[str, bytes]) -> None:
        real = self._mounts.resolve(root)
        with translated(root):
            for child in real.iterdir():
                if child.is_dir() and not child.is_symlink():
                    shutil.rmtree(child)
                else:
                    child.unlink()
            for name, data in files.items():
                (real / name).parent.mkdir(parents=True, exist_ok=True)
                _replace(real / name, data, 0o444)

    def stat(self, path: str) -> FileInfo:
        real = self._mounts.resolve(path)
        with translated(path):
            return _info(path, real.lstat())

    def list(self, path: str, depth: int) -> Listing:
        real = self._mounts.resolve(path)
        found: list[FileInfo] = []
        queue: deque[tuple[Path, str, int]] = deque([(real, path.rstrip("/"), 1)])
        while queue:
            folder, prefix, level = queue.popleft()
            with translated(path):
                names = sorted(entry.name for entry in folder.iterdir())
            for name in names:
                if name.startswith(_TEMPORARY):
                    continue
                if len(found) >= _MAX_ENTRIES:
                    return Listing(tuple(found), truncated=True)
                with contextlib.suppress(FileNotFoundError):
                    found.append(_info(f"{prefix}/{name}", (folder / name).lstat()))
                    if found[-1].kind is EntryKind.DIRECTORY and level < depth:
                        queue.append((folder / name, f"{prefix}/{name}", level + 1))
        return Listing(tuple(found), truncated=False)

    def delete(self, path: str, *, recursive: bool) -> None:
        real = self._mounts.resolve(path, write=True, follow_last=False)
        if self._mounts.is_root(real):
            raise errors.PathPermission(path, f"{path} is a directory of the sandbox itself")
        with translated(path):
            if not stat.S_ISDIR(real.lstat().st_mode):
                real.unlink()
            elif recursive:
                shutil.rmtree(real)
            else:
                real.rmdir()


def _must_be_file(path: str, info: os.stat_result) -> None:
    if stat.S_ISDIR(info.st_mode):
        raise errors.IsADirectory(path, f"{path} is a directory")
    if not stat.S_ISREG(info.st_mode):
        raise errors.NotARegularFile(path, f"{path} is not a regular file")


def _replace(real: Path, data: bytes, mode: int | None = None) -> int:
    if mode is None:
        mode = stat.S_IMODE(real.stat().st_mode) if real.exists() else 0o644
    temporary = real.parent / f"{_TEMPORARY}{secrets.token_hex(8)}"
    try:
        with temporary.open("xb") as file:
            file.write(data)
        temporary.chmod(mode)
        temporary.replace(real)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return len(data)


def _append(real: Path, data: bytes) -> int:
    with real.open("ab") as file:
        before = file.seek(0, os.SEEK_END)
        try:
            file.write(data)
            file.flush()
        except OSError:
            file.truncate(before)
            raise
        return file.tell()


def _info(path: str, info: os.stat_result) -> FileInfo:
    shown = os.fsencode(path).decode("utf-8", errors="replace")
    kind = _KINDS.get(stat.S_IFMT(info.st_mode), EntryKind.OTHER)
    return FileInfo(shown, kind, info.st_size, stat.S_IMODE(info.st_mode), info.st_mtime)
