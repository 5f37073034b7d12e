"""A sandbox in memory: the second implementation of the runner's Sandbox and SandboxProvider, for tests."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from skerry_api.filesearch.globs import glob_regex, still_ignored
from skerry_api.filesearch.lines import line_regex, matching
from skerry_api.filesearch.models import (
    FindRequest,
    FindResult,
    FoundPath,
    GrepMatch,
    GrepRequest,
    GrepResult,
    SearchRequest,
)
from skerry_api.sandboxd_api import FileKind
from skerry_runner.paths import USER_DATA, WORKSPACE
from skerry_runner.sandbox.errors import (
    CommandConflict,
    InvalidCall,
    IsADirectory,
    PathNotFound,
    ReadOnlyPath,
)
from skerry_runner.sandbox.types import (
    DEFAULT_OUTPUT_BYTES,
    DEFAULT_TIMEOUT_SECONDS,
    Capabilities,
    Chunk,
    EntryKind,
    ExecResult,
    FileInfo,
    Listing,
    OutputHandler,
    Source,
)
from skerry_testing.fakeprocess import FakeProcess, Program, cat

__all__ = ["Command", "FakeProvider", "FakeSandbox", "printed"]

Shell = Callable[["Command"], Awaitable[ExecResult]]


@dataclass(frozen=True)
class Command:
    command: str
    key: str
    cwd: str | None
    timeout_seconds: float


def printed(text: str | bytes, *, exit_code: int | None = 0, **other: object) -> ExecResult:
    """A command that printed this."""
    raw = text.encode() if isinstance(text, str) else text
    chunks = (Chunk(Source.STDOUT, raw),) if raw else ()
    return ExecResult(exit_code=exit_code, signal=None, chunks=chunks, duration_ms=1, **other)  # type: ignore[arg-type]  # flags only


async def echo(command: Command) -> ExecResult:
    """The shell of a test that cares for none: prints its command."""
    return printed(command.command + "\n")


@dataclass
class FakeSandbox:
    """Files in a dict, commands by a function; a key runs once, as in a real one."""

    id: str = "sbx-1"
    pod_uid: str | None = None
    shell: Shell = echo
    files: dict[str, bytes] = field(default_factory=dict)
    commands: list[Command] = field(default_factory=list)
    killed: list[str] = field(default_factory=list)
    """Commands whose execution was cancelled."""
    capabilities: Capabilities = field(default_factory=lambda: Capabilities(mounts_thread_data=False))
    program: Program = cat
    """What its processes run, whatever their command."""
    refusing: Exception | None = None
    """Raised instead of starting one."""
    processes: dict[str, FakeProcess] = field(default_factory=dict)
    read_only: set[str] = field(default_factory=set)
    _results: dict[str, tuple[str, ExecResult]] = field(default_factory=dict)

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
        if key in self._results:
            known, result = self._results[key]
            if known != command:
                raise CommandConflict(f"key {key} was used for another command")
            return result
        call = Command(command, key, cwd, timeout_seconds)
        self.commands.append(call)
        try:
            result = await self.shell(call)
        except asyncio.CancelledError:
            self.killed.append(command)
            raise
        self._results[key] = (command, result)
        return result

    async def start_process(
        self, name: str, command: str, *, cwd: str | None = None, env: Mapping[str, str] | None = None
    ) -> FakeProcess:
        if self.refusing is not None:
            raise self.refusing
        if (old := self.processes.get(name)) is not None:
            await old.end()
        self.processes[name] = process = FakeProcess(name, command, dict(env or {}), self.program)
        process.start()
        return process

    async def read_file(self, path: str, *, offset: int = 0, limit: int | None = None) -> bytes:
        end = None if limit is None else offset + limit
        return self._file(path)[offset:end]

    async def install(self, root: str, files: Mapping[str, bytes]) -> None:
        self.read_only.add(root)
        self.files = {path: data for path, data in self.files.items() if not path.startswith(root + "/")}
        self.files |= {f"{root}/{name}": data for name, data in files.items()}

    async def write_file(self, path: str, data: bytes, *, append: bool = False) -> int:
        if any(path.startswith(root + "/") for root in self.read_only):
            raise ReadOnlyPath(path, f"{path} is read-only")
        self.files[path] = (self.files.get(path, b"") if append else b"") + data
        return len(self.files[path])

    async def list_dir(self, path: str, *, depth: int = 1) -> Listing:
        entries: dict[str, FileInfo] = {}
        for name, raw in self.files.items():
            if not name.startswith(path.rstrip("/") + "/"):
                continue
            parts = posixpath.relpath(name, path).split("/")
            for level in range(1, min(depth, len(parts)) + 1):
                here = posixpath.join(path, *parts[:level])
                kind = EntryKind.FILE if level == len(parts) else EntryKind.DIRECTORY
                entries[here] = FileInfo(here, kind, len(raw) if kind is EntryKind.FILE else 0, 0o644, 0.0)
        if not entries and path not in {USER_DATA, WORKSPACE}:
            raise PathNotFound(path, f"{path} does not exist")
        return Listing(
            tuple(sorted(entries.values(), key=lambda e: (e.path.count("/"), e.path))), truncated=False
        )

    async def stat(self, path: str) -> FileInfo:
        return FileInfo(path, EntryKind.FILE, len(self._file(path)), 0o644, 0.0)

    async def find(self, request: FindRequest) -> FindResult:
        regex, found = glob_regex(request.glob), []
        below, ignored = self._below(request)
        for path, kind in below:
            if (kind is FileKind.FILE or request.directories) and regex.match(path[len(request.path) + 1 :]):
                found.append(FoundPath(path=path, kind=kind))
        return FindResult(
            paths=tuple(found[: request.limit]), truncated=len(found) > request.limit, ignored=ignored
        )

    async def grep(self, request: GrepRequest) -> GrepResult:
        try:
            regex = line_regex(
                request.pattern, literal=request.literal, case_sensitive=request.case_sensitive
            )
            glob = glob_regex(request.glob) if request.glob else None
        except ValueError as error:
            raise InvalidCall(str(error), "pattern") from error
        below, ignored = ([], 0) if request.path in self.files else self._below(request)
        files = [request.path] if request.path in self.files else []
        for path, kind in below:
            if kind is FileKind.FILE and (glob is None or glob.match(path[len(request.path) + 1 :])):
                files.append(path)
        found = [
            GrepMatch(path=path, line=line[0], text=line[1])
            for path in files
            for line in matching(self.files[path], regex)
            if line is not None
        ]
        return GrepResult(
            matches=tuple(found[: request.limit]),
            truncated=len(found) > request.limit,
            files=len(files),
            ignored=ignored,
        )

    def _below(self, request: SearchRequest) -> tuple[list[tuple[str, FileKind]], int]:
        """All below, sorted, but for what is ignored; how many entries are."""
        root = request.path.rstrip("/")
        ignore = still_ignored(request.ignore, getattr(request, "glob", None))
        found: dict[str, FileKind] = {}
        ignored: set[str] = set()
        for path in self.files:
            parts = path[len(root) + 1 :].split("/") if path.startswith(root + "/") else []
            for level, part in enumerate(parts, 1):
                here = "/".join((root, *parts[:level]))
                if any(fnmatchcase(part, pattern) for pattern in ignore):
                    ignored.add(here)
                    break
                found[here] = FileKind.FILE if level == len(parts) else FileKind.DIRECTORY
        if not found and not ignored and root not in {USER_DATA, WORKSPACE}:
            raise PathNotFound(request.path, f"{request.path} does not exist")
        return sorted(found.items(), key=lambda item: item[0].split("/")), len(ignored)

    async def delete(self, path: str, *, recursive: bool = False) -> None:
        self._file(path)
        del self.files[path]

    async def close(self) -> None:
        """Nothing is held."""

    def _file(self, path: str) -> bytes:
        if path in self.files:
            return self.files[path]
        if any(name.startswith(path + "/") for name in self.files):
            raise IsADirectory(path, f"{path} is a directory")
        raise PathNotFound(path, f"{path} does not exist")


@dataclass
class FakeProvider:
    """Hands out one sandbox; counts. `failures` are raised by the next acquires, in order."""

    sandbox: FakeSandbox = field(default_factory=FakeSandbox)
    failures: list[Exception] = field(default_factory=list)
    acquired: int = 0
    released: int = 0
    current: FakeSandbox | None = None
    thread_files: FakeSandbox | None = None
    """Set it where the runner is to reach the thread's files without a sandbox."""

    async def acquire(self) -> FakeSandbox:
        # Others get a turn here, as they would while a real one starts.
        await asyncio.sleep(0)
        if self.failures:
            raise self.failures.pop(0)
        self.acquired += 1
        self.current = self.sandbox
        return self.sandbox

    async def release(self) -> None:
        if self.current is not None:
            self.released += 1
            self.current = None
