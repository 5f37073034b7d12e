"""File operations on located places: blocking, each atomic as far as the file system allows.

Run them in a thread. All raise ApiError; nothing but regular files and directories is ever opened, so a
fifo or a device can't hang or surprise us.
"""

import contextlib
import os
import secrets
import shutil
import stat
from collections import deque
from collections.abc import Iterator
from typing import BinaryIO, Final

from skerry_api.sandboxd_api import FileKind, FileList, FileStat, Reason, WriteResult
from skerry_sandboxd.errors import ApiError
from skerry_sandboxd.paths import Roots, os_failure

__all__ = [
    "append_file",
    "delete",
    "list_directory",
    "open_file",
    "open_to_search",
    "replace_file",
    "stat_path",
]

_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_KINDS: Final = {
    stat.S_IFREG: FileKind.FILE,
    stat.S_IFDIR: FileKind.DIRECTORY,
    stat.S_IFLNK: FileKind.SYMLINK,
}
_TEMPORARY: Final = ".skerry-"


@contextlib.contextmanager
def _translated(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise os_failure(error, path) from error


def _stat(path: str, info: os.stat_result) -> FileStat:
    return FileStat(
        path=os.fsencode(path).decode("utf-8", errors="replace"),  # names are bytes, JSON is not
        kind=_KINDS.get(stat.S_IFMT(info.st_mode), FileKind.OTHER),
        size=info.st_size,
        mode=stat.S_IMODE(info.st_mode),
        mtime=info.st_mtime,
    )


def open_file(roots: Roots, path: str) -> tuple[BinaryIO, int]:
    """Open a regular file for reading; returns it with its size."""
    place = roots.locate(path)
    with _translated(path), roots.parent(place) as (fd, name):
        handle = os.open(name, _READ, dir_fd=fd)
        info = os.fstat(handle)
        if stat.S_ISREG(info.st_mode):
            return os.fdopen(handle, "rb"), info.st_size
        os.close(handle)
    raise _not_a_file(path, info)


def _not_a_file(path: str, info: os.stat_result) -> ApiError:
    if stat.S_ISDIR(info.st_mode):
        return ApiError(Reason.IS_DIRECTORY, f"{path} is a directory", field="path")
    return ApiError(Reason.NOT_REGULAR, f"{path} is not a regular file", field="path")


def replace_file(
    roots: Roots, path: str, source: BinaryIO, *, mode: int | None, install: bool = False
) -> WriteResult:
    """Write `source` beside the target and rename it over: readers see the old file or the new one, whole.

    Parents are made. Without `mode` an existing file keeps its own, a new one gets 0644.
    """
    place = roots.locate(path, write=True, install=install)
    with _translated(path), roots.parent(place, create=True) as (fd, name):
        existing = _existing(fd, name, path)
        bits = mode if mode is not None else stat.S_IMODE(existing.st_mode) if existing else 0o644
        temporary = f"{_TEMPORARY}{secrets.token_hex(8)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(temporary, flags, 0o600, dir_fd=fd), "wb") as file:
                shutil.copyfileobj(source, file, 1024 * 1024)
                file.flush()
                os.fchmod(file.fileno(), bits)
                size = file.tell()
            os.rename(temporary, name, src_dir_fd=fd, dst_dir_fd=fd)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=fd)
            raise
    return WriteResult(path=place.path, size=size)


def append_file(roots: Roots, path: str, source: BinaryIO, *, mode: int | None) -> WriteResult:
    """Append `source`; if that fails half-way the file gets its old length back."""
    place = roots.locate(path, write=True)
    with _translated(path), roots.parent(place, create=True) as (fd, name):
        existing = _existing(fd, name, path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(name, flags, 0o644, dir_fd=fd), "ab") as file:
            before = os.fstat(file.fileno()).st_size
            try:
                shutil.copyfileobj(source, file, 1024 * 1024)
                file.flush()
            except OSError:
                os.ftruncate(file.fileno(), before)
                raise
            if mode is not None and existing is None:
                os.fchmod(file.fileno(), mode)
            size = os.fstat(file.fileno()).st_size
    return WriteResult(path=place.path, size=size)


def _existing(fd: int, name: str, path: str) -> os.stat_result | None:
    try:
        info = os.stat(name, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(info.st_mode):
        raise _not_a_file(path, info)
    return info


def stat_path(roots: Roots, path: str) -> FileStat:
    """Links inside the roots are followed."""
    place = roots.locate(path)
    with _translated(path), roots.parent(place) as (fd, name):
        return _stat(path, os.stat(name, dir_fd=fd, follow_symlinks=False))


def list_directory(roots: Roots, path: str, *, depth: int, limit: int) -> FileList:
    """Entries to `depth` levels, breadth first and sorted by name within a directory; at most `limit`."""
    place = roots.locate(path)
    found: list[FileStat] = []
    queue: deque[tuple[str, ...]] = deque([()])
    with _translated(path), roots.parent(place) as (parent, name):
        while queue:
            below = queue.popleft()
            try:
                entries = _entries(parent, (name, *below))
            except OSError:
                if not below:
                    raise
                continue  # not ours to read, or gone meanwhile: its own line stands
            for entry, info in entries:
                if len(found) >= limit:
                    return FileList(path=path, entries=tuple(found), truncated=True)
                item = _stat("/".join((path.rstrip("/"), *below, entry)), info)
                found.append(item)
                if item.kind is FileKind.DIRECTORY and len(below) + 1 < depth:
                    queue.append((*below, entry))
    return FileList(path=path, entries=tuple(found))


def open_to_search(roots: Roots, path: str) -> tuple[int, str | None]:
    """A descriptor of the directory, to be closed by the caller; of a file's parent together with its name."""
    place = roots.locate(path)
    with _translated(path), roots.parent(place) as (parent, name):
        info = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if stat.S_ISDIR(info.st_mode):
            return os.open(
                name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent
            ), None
        if stat.S_ISREG(info.st_mode):
            return os.dup(parent), name
    raise _not_a_file(path, info)


def _entries(parent: int, names: tuple[str, ...]) -> list[tuple[str, os.stat_result]]:
    """The entries of the directory `names` leads to from `parent`, no link followed on the way."""
    fd = os.dup(parent)
    try:
        for step in names:
            child = os.open(step, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
            os.close(fd)
            fd = child
        found = []
        for name in sorted(os.listdir(fd)):  # noqa: PTH208  # a descriptor has no Path
            if not name.startswith(_TEMPORARY):
                with contextlib.suppress(FileNotFoundError):
                    found.append((name, os.stat(name, dir_fd=fd, follow_symlinks=False)))
        return found
    finally:
        os.close(fd)


def delete(roots: Roots, path: str, *, recursive: bool, install: bool = False) -> None:
    """Remove a file, a link (not its target) or a directory. A root itself stays."""
    place = roots.locate(path, write=True, install=install, follow_last=False)
    if not place.names:
        raise ApiError(Reason.PERMISSION_DENIED, f"{path} is a served directory itself", field="path")
    with _translated(path), roots.parent(place) as (fd, name):
        info = os.stat(name, dir_fd=fd, follow_symlinks=False)
        if not stat.S_ISDIR(info.st_mode):
            os.unlink(name, dir_fd=fd)
        elif recursive:
            shutil.rmtree(name, dir_fd=fd)
        else:
            os.rmdir(name, dir_fd=fd)
