"""What a sandbox is to the runner: one Protocol, and the values that cross it.

Tools and middlewares see only this. Where the files lie and who runs the commands is a provider's business;
what differs between providers is told by `Capabilities`, never guessed from a name.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from skerry_runner.sandbox.process import Process

from skerry_api.filesearch.models import FindRequest, FindResult, GrepRequest, GrepResult

__all__ = [
    "DEFAULT_OUTPUT_BYTES",
    "DEFAULT_TIMEOUT_SECONDS",
    "Capabilities",
    "Chunk",
    "EntryKind",
    "ExecResult",
    "FileInfo",
    "Listing",
    "OutputHandler",
    "Sandbox",
    "Source",
    "execution_key",
]

DEFAULT_TIMEOUT_SECONDS: Final = 600.0
DEFAULT_OUTPUT_BYTES: Final = 1024 * 1024


class Source(StrEnum):
    """Where a chunk comes from; GAP stands where output was dropped."""

    STDOUT = "stdout"
    STDERR = "stderr"
    GAP = "gap"


@dataclass(frozen=True)
class Chunk:
    """Some output in order of arrival. A gap has no data and counts its `dropped` bytes."""

    source: Source
    data: bytes = b""
    dropped: int = 0


OutputHandler = Callable[[Chunk], None]


@dataclass(frozen=True)
class ExecResult:
    """How a command ended. Exactly one of `exit_code` and `signal` (such as SIGKILL) is set.

    `timed_out`: it was ended at its timeout. `killed`: ended by somebody's wish. `chunks` hold at most the
    output cap; `truncated` says that bytes are missing.
    """

    exit_code: int | None
    signal: str | None
    chunks: tuple[Chunk, ...]
    duration_ms: int
    timed_out: bool = False
    killed: bool = False

    @property
    def truncated(self) -> bool:
        return self.dropped > 0

    @property
    def dropped(self) -> int:
        return sum(chunk.dropped for chunk in self.chunks)

    @property
    def stdout(self) -> bytes:
        return b"".join(chunk.data for chunk in self.chunks if chunk.source is Source.STDOUT)

    @property
    def stderr(self) -> bytes:
        return b"".join(chunk.data for chunk in self.chunks if chunk.source is Source.STDERR)

    @property
    def text(self) -> str:
        """Both streams in order, bytes that are no UTF-8 replaced, gaps named."""
        parts = (
            f"\n[{chunk.dropped} bytes of output omitted]\n".encode()
            if chunk.source is Source.GAP
            else chunk.data
            for chunk in self.chunks
        )
        return b"".join(parts).decode("utf-8", errors="replace")


class EntryKind(StrEnum):
    FILE = "file"
    DIRECTORY = "directory"
    SYMLINK = "symlink"
    OTHER = "other"


@dataclass(frozen=True)
class FileInfo:
    """`size` in bytes, `mode` the permission bits, `mtime` seconds since the Unix epoch."""

    path: str
    kind: EntryKind
    size: int
    mode: int
    mtime: float


@dataclass(frozen=True)
class Listing:
    """Breadth first, sorted by name within a directory; links are shown, not followed."""

    entries: tuple[FileInfo, ...]
    truncated: bool


@dataclass(frozen=True)
class Capabilities:
    """`mounts_thread_data`: the thread's files are on the runner's own disk too. `runs_commands`: bash is allowed."""

    mounts_thread_data: bool
    runs_commands: bool = True


class Sandbox(Protocol):
    """One thread's sandbox. Paths are absolute and virtual (/mnt/user-data/…). All methods raise SandboxError.

    Any number of calls may be in flight. Cancelling `execute` ends its command; losing a connection does not.
    """

    @property
    def id(self) -> str: ...

    @property
    def pod_uid(self) -> str | None:
        """The Pod that the last call went to; None before the first, and where nothing can take its place."""
        ...

    @property
    def capabilities(self) -> Capabilities: ...

    async def execute(
        self,
        command: str,
        *,
        key: str,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        max_output_bytes: int = DEFAULT_OUTPUT_BYTES,
        on_output: OutputHandler | None = None,
    ) -> ExecResult:
        """Run `command` with `bash -c` in `cwd` (default: the workspace).

        `key` (see `execution_key`) makes it run at most once: the same call again gets the same result.
        A command that reached its timeout is a result, not an error.
        """
        ...

    async def start_process(
        self, name: str, command: str, *, cwd: str | None = None, env: Mapping[str, str] | None = None
    ) -> "Process":
        """Start a long-running `bash -c command` with an open standard input.

        At most one process has a `name` (letters, digits, `._:-`): what runs under it, be it of a runner that
        died, is ended first.
        """
        ...

    async def read_file(self, path: str, *, offset: int = 0, limit: int | None = None) -> bytes:
        """Bytes from `offset`, at most `limit`; past the end is b''."""
        ...

    async def write_file(self, path: str, data: bytes, *, append: bool = False) -> int:
        """Replace (atomically) or append; parents are made. Returns the file's size afterwards."""
        ...

    async def install(self, root: str, files: Mapping[str, bytes]) -> None:
        """Have exactly `files` (by path below it) in `root`, a directory that all other calls can only read.

        For what the runner itself brings, such as skills: no tool calls it.
        """
        ...

    async def list_dir(self, path: str, *, depth: int = 1) -> Listing: ...

    async def stat(self, path: str) -> FileInfo: ...

    async def find(self, request: FindRequest) -> FindResult:
        """Search by name, by a walk that follows no links."""
        ...

    async def grep(self, request: GrepRequest) -> GrepResult:
        """Search by content; binary and large files are counted, not looked into."""
        ...

    async def delete(self, path: str, *, recursive: bool = False) -> None: ...

    async def close(self) -> None:
        """Release what the runner holds. Never destroys the sandbox."""
        ...


def execution_key(*parts: str | int) -> str:
    """One key from its parts (run UID, message id, call index, request ordinal): the same parts, the same key."""
    plain = "~".join(str(part) for part in parts)
    if len(plain) <= 200 and all(re.fullmatch(r"[A-Za-z0-9._:-]+", str(part)) for part in parts):
        return plain
    joined = "".join(f"{len(str(part))}:{part}" for part in parts)
    return "h:" + hashlib.sha256(joined.encode("utf-8")).hexdigest()
