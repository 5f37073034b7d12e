"""Virtual paths on the runner's own disk: longest prefix on segment boundaries, nothing out through links."""

import os
import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from skerry_runner.sandbox.errors import InvalidCall, PathForbidden, ReadOnlyPath

__all__ = ["Mount", "Mounts", "OutputTranslator"]


@dataclass(frozen=True)
class Mount:
    """`real` (a directory that exists) appears at `virtual` (absolute, normalised).

    `spelled` is how commands get to see it; by default as it is.
    """

    virtual: str
    real: Path
    writable: bool = True
    spelled: str | None = None

    @property
    def in_commands(self) -> str:
        return self.spelled or str(self.real)


class Mounts:
    """The whole table."""

    def __init__(self, mounts: Iterable[Mount]) -> None:
        # The longest virtual path first: /mnt/user-data/x may be mounted inside /mnt/user-data.
        self._mounts = sorted(
            (replace(m, real=Path(os.path.realpath(m.real))) for m in mounts),
            key=lambda mount: len(mount.virtual),
            reverse=True,
        )

    def resolve(self, path: str, *, write: bool = False, follow_last: bool = True) -> Path:
        """The real path, links resolved. Raises InvalidCall, PathForbidden, ReadOnlyPath."""
        if not path.startswith("/") or "\0" in path:
            raise InvalidCall("path: an absolute path is needed", "path")
        virtual = "/" + posixpath.normpath(path).lstrip("/")
        mount = self._mount_of(virtual)
        if mount is None:
            raise PathForbidden(path, f"{path} is outside the sandbox's directories")
        below = virtual[len(mount.virtual) :].lstrip("/")
        joined = mount.real / below if below else mount.real
        real = Path(os.path.realpath(joined))
        if not follow_last and below:
            real = Path(os.path.realpath(joined.parent)) / joined.name
        # A link may lead into another mount; that one's rules hold then.
        owner = next((m for m in self._by_real() if real.is_relative_to(m.real)), None)
        if owner is None:
            raise PathForbidden(path, f"{path} leads out of the sandbox's directories")
        if write and not owner.writable:
            raise ReadOnlyPath(path, f"{owner.virtual} is read-only")
        return real

    def to_real(self, text: str) -> str:
        """Replace virtual paths in a command or a value by real ones, where a path begins and a segment ends."""
        return self._pattern().sub(lambda match: self._by_virtual(match[0]).in_commands, text)

    def translator(self) -> "OutputTranslator":
        """A fresh translator of output back to virtual paths."""
        real = {os.fsencode(m.real): m.virtual.encode() for m in self._by_real()}
        spelled = {os.fsencode(m.in_commands): m.virtual.encode() for m in self._by_real()}
        return OutputTranslator(real | spelled)

    def is_root(self, real: Path) -> bool:
        """Is it a mount itself?"""
        return any(mount.real == real for mount in self._mounts)

    def _by_real(self) -> list[Mount]:
        return sorted(self._mounts, key=lambda mount: len(str(mount.real)), reverse=True)

    def _mount_of(self, virtual: str) -> Mount | None:
        def holds(mount: Mount) -> bool:
            return virtual == mount.virtual or virtual.startswith(mount.virtual + "/")

        return next((mount for mount in self._mounts if holds(mount)), None)

    def _by_virtual(self, virtual: str) -> Mount:
        return next(mount for mount in self._mounts if mount.virtual == virtual)

    def _pattern(self) -> re.Pattern[str]:
        names = "|".join(re.escape(mount.virtual) for mount in self._mounts)
        return re.compile(rf"(?<![\w./~-])(?:{names})(?![\w.-])")


class OutputTranslator:
    """Real paths to virtual ones in a byte stream that is cut anywhere."""

    def __init__(self, table: dict[bytes, bytes]) -> None:
        self._table = table
        self._pattern = re.compile(b"|".join(re.escape(real) for real in table))
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """What can be said now; a possible beginning of a real path at the end is held back."""
        data = self._replace(self._held + data)
        keep = max((_overlap(data, real) for real in self._table), default=0)
        self._held = data[len(data) - keep :]
        return data[: len(data) - keep]

    def flush(self) -> bytes:
        held, self._held = self._held, b""
        return held

    def _replace(self, data: bytes) -> bytes:
        find: Callable[[re.Match[bytes]], bytes] = lambda match: self._table[match[0]]  # noqa: E731  # typed
        return self._pattern.sub(find, data)


def _overlap(data: bytes, word: bytes) -> int:
    """Length of the longest end of `data` that is a proper beginning of `word`."""
    for size in range(min(len(data), len(word) - 1), 0, -1):
        if data.endswith(word[:size]):
            return size
    return 0
