"""From a path in a request to an open directory and a name, without ever leaving the roots.

The path is resolved first, so links that stay inside the roots work. The result, which has no links in it
any more, is then opened step by step with O_NOFOLLOW: a link slipped in meanwhile is refused, not followed.
"""

import contextlib
import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from skerry_api.sandboxd_api import Reason
from skerry_sandboxd.errors import ApiError
from skerry_sandboxd.settings import Root

__all__ = ["Place", "Roots", "os_failure"]

_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_REASONS: Final = {
    errno.ENOENT: Reason.NOT_FOUND,
    errno.EISDIR: Reason.IS_DIRECTORY,
    errno.ENOTDIR: Reason.NOT_DIRECTORY,
    errno.ENOTEMPTY: Reason.NOT_EMPTY,
    errno.EEXIST: Reason.NOT_EMPTY,
    errno.EACCES: Reason.PERMISSION_DENIED,
    errno.EPERM: Reason.PERMISSION_DENIED,
    errno.EROFS: Reason.READ_ONLY,
    errno.ENOSPC: Reason.NO_SPACE,
    errno.EDQUOT: Reason.NO_SPACE,
    errno.EFBIG: Reason.TOO_LARGE,
    errno.ENAMETOOLONG: Reason.INVALID_REQUEST,
    errno.ELOOP: Reason.PATH_FORBIDDEN,
    errno.ENXIO: Reason.NOT_REGULAR,
}


def os_failure(error: OSError, path: str) -> ApiError:
    """An OSError about `path` as the caller sees it."""
    reason = _REASONS.get(error.errno or 0, Reason.INTERNAL)
    return ApiError(reason, f"{path}: {error.strerror or error}", field="path")


@dataclass(frozen=True)
class Place:
    """A resolved path: below which root, and the names from there. No names: the root itself."""

    root: Root
    names: tuple[str, ...]

    @property
    def path(self) -> str:
        return "/".join((self.root.path.rstrip("/"), *self.names)) or "/"


class Roots:
    """The directories whose files may be served."""

    def __init__(self, roots: tuple[Root, ...]) -> None:
        # Longest first: a read-only directory inside a writable one stays read-only.
        self._roots = tuple(sorted(roots, key=lambda root: len(root.path), reverse=True))

    def locate(
        self, path: str, *, write: bool = False, install: bool = False, follow_last: bool = True
    ) -> Place:
        """Resolve `path`. Raises ApiError (InvalidRequest, PathForbidden, ReadOnly).

        `install`: the write is one of the runner's own, which read-only directories are filled by.
        """
        if not path.startswith("/") or "\0" in path or len(os.fsencode(path)) > 4096:
            raise ApiError(Reason.INVALID_REQUEST, "path: an absolute path is needed", field="path")
        try:
            if follow_last:
                real = os.path.realpath(path)
            else:
                parent, name = os.path.split(os.path.normpath(path))
                real = os.path.join(os.path.realpath(parent), name)  # noqa: PTH118  # all of this is text
        except OSError as error:
            raise os_failure(error, path) from error
        for root in self._roots:
            if real == root.path or real.startswith(root.path.rstrip("/") + "/"):
                names = tuple(part for part in real[len(root.path) :].split("/") if part)
                if write and not (root.writable or install):
                    raise ApiError(Reason.READ_ONLY, f"{root.path} is read-only", field="path")
                return Place(root, names)
        where = "" if real == os.path.normpath(path) else f" (it leads to {real})"
        raise ApiError(
            Reason.PATH_FORBIDDEN, f"{path} is outside the served directories{where}", field="path"
        )

    @contextlib.contextmanager
    def parent(self, place: Place, *, create: bool = False) -> Iterator[tuple[int, str]]:
        """Open the directory that holds `place`; yields (descriptor, name), name "." for a root.

        Raises OSError, ELOOP for a link that was slipped in.
        """
        names, name = (place.names[:-1], place.names[-1]) if place.names else ((), ".")
        fd = os.open(place.root.path, _DIRECTORY)
        try:
            for part in names:
                fd = _step(fd, part, create=create)
            yield fd, name
        finally:
            os.close(fd)


def _step(fd: int, name: str, *, create: bool) -> int:
    """Open the child directory and close `fd`, unless that fails: then `fd` stays the caller's."""
    try:
        child = os.open(name, _DIRECTORY, dir_fd=fd)
    except FileNotFoundError:
        if not create:
            raise
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o755, dir_fd=fd)
        child = os.open(name, _DIRECTORY, dir_fd=fd)
    except NotADirectoryError as error:
        # O_DIRECTORY on a link says ENOTDIR; a link here appeared after the path was resolved.
        if os.path.islink(f"/proc/self/fd/{fd}/{name}"):  # noqa: PTH114  # relative to a descriptor
            raise OSError(errno.ELOOP, "a symlink was slipped in") from error
        raise
    os.close(fd)
    return child
