"""A sandbox on the person's own machine, for `skerry run`: a directory per thread, and subprocesses if allowed.

This isolates nothing: commands run as the person who started us, and can leave the directory. So they are
refused unless allowed. File calls stay inside the mounts. A path is real for commands and virtual for the
agent; both ways are translated, in commands on segment boundaries only.
"""

import asyncio
import os
import re
import secrets
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from typing_extensions import override

from skerry_api.filesearch.models import FindRequest, FindResult, GrepRequest, GrepResult
from skerry_runner.paths import USER_DATA, WORKSPACE
from skerry_runner.sandbox.collector import Collector
from skerry_runner.sandbox.errors import InvalidCall, PathError, SandboxRefused, SandboxUnavailable
from skerry_runner.sandbox.local_files import LocalFiles
from skerry_runner.sandbox.local_process import LocalProcess
from skerry_runner.sandbox.local_search import LocalSearch
from skerry_runner.sandbox.mounts import Mount, Mounts
from skerry_runner.sandbox.once import Once
from skerry_runner.sandbox.process import Process
from skerry_runner.sandbox.subprocesses import LocalCommand, LocalRun
from skerry_runner.sandbox.types import (
    DEFAULT_OUTPUT_BYTES,
    DEFAULT_TIMEOUT_SECONDS,
    Capabilities,
    ExecResult,
    FileInfo,
    Listing,
    OutputHandler,
    Sandbox,
)

__all__ = ["LocalSandbox"]

_FOLDERS: Final = ("workspace", "uploads", "outputs")
_INHERITED: Final = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TZ", "TMPDIR"}
)


class LocalSandbox(Sandbox):
    """`root` is the thread's own directory; its folders are made. `mounts` add more, such as skills."""

    def __init__(
        self,
        sandbox_id: str,
        root: Path,
        *,
        allow_bash: bool,
        mounts: Iterable[Mount] = (),
        environ: Mapping[str, str] | None = None,
        new_mark: Callable[[], str] = secrets.token_hex,
    ) -> None:
        for folder in _FOLDERS:
            (root / folder).mkdir(parents=True, exist_ok=True)
        self._id = sandbox_id
        self._aliases: list[Path] = []
        self._mounts = Mounts([self._spelled(mount) for mount in (Mount(USER_DATA, root), *mounts)])
        self._files = LocalFiles(self._mounts)
        self._search = LocalSearch(self._mounts)
        self._capabilities = Capabilities(mounts_thread_data=True, runs_commands=allow_bash)
        self._environ = _clean(environ if environ is not None else os.environ)
        self._new_mark = new_mark
        self._once = Once()
        self._runs: list[LocalRun] = []
        self._processes: dict[str, LocalProcess] = {}

    @property
    @override
    def id(self) -> str:
        return self._id

    @property
    @override
    def pod_uid(self) -> None:
        """A directory stays."""

    @property
    @override
    def capabilities(self) -> Capabilities:
        return self._capabilities

    def host_path(self, path: str) -> Path:
        """Where a virtual path lies on this machine. Raises PathError, InvalidCall."""
        return self._mounts.resolve(path)

    @override
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
        self._check_command(command)
        content = (command, cwd, tuple(sorted((env or {}).items())), timeout_seconds, max_output_bytes)
        local = LocalCommand(
            script=self._mounts.to_real(command),
            cwd=self._working_directory(cwd or WORKSPACE),
            env=self._environment(env),
            mark=self._new_mark(),
            timeout_seconds=timeout_seconds,
        )

        async def run() -> ExecResult:
            collector = Collector(max_output_bytes, on_output)
            translators = (self._mounts.translator(), self._mounts.translator())
            started = LocalRun(local, collector, translators)
            self._runs = [*(each for each in self._runs if each.holds_pipes), started]
            try:
                return await started.run()
            except OSError as error:
                raise SandboxUnavailable(f"The command can't be started: {error.strerror}") from error

        return await self._once.run(key, content, run, on_output)

    @override
    async def start_process(
        self, name: str, command: str, *, cwd: str | None = None, env: Mapping[str, str] | None = None
    ) -> Process:
        self._check_command(command)
        if (old := self._processes.pop(name, None)) is not None:
            await old.end()
        self._processes[name] = started = await LocalProcess.start(
            command,
            cwd=self._working_directory(cwd or WORKSPACE),
            env=self._environment(env),
            mark=self._new_mark(),
            to_real=self._mounts.to_real,
            translator=self._mounts.translator,
        )
        return started

    def _spelled(self, mount: Mount) -> Mount:
        alias = _alias(mount.real, mount.virtual)
        if alias is None:
            return mount
        self._aliases.append(alias)
        return replace(mount, spelled=str(alias))

    def _check_command(self, command: str) -> None:
        if not self._capabilities.runs_commands:
            raise SandboxRefused(
                "BashNotAllowed",
                "Commands are switched off here: this sandbox is the user's own machine. "
                "The profile's sandbox.allowLocalBash would allow them.",
            )
        if not command or "\0" in command:
            raise InvalidCall("command: is empty or holds a NUL character", "command")

    def _environment(self, env: Mapping[str, str] | None) -> dict[str, str]:
        return {**self._environ, **{name: self._mounts.to_real(value) for name, value in (env or {}).items()}}

    def _working_directory(self, cwd: str) -> Path:
        try:
            real = self._mounts.resolve(cwd)
        except PathError as error:
            raise InvalidCall(f"cwd: {error}", "cwd") from error
        if not real.is_dir():
            raise InvalidCall(f"cwd: {cwd} is not a directory", "cwd")
        return real

    @override
    async def read_file(self, path: str, *, offset: int = 0, limit: int | None = None) -> bytes:
        return await asyncio.to_thread(self._files.read, path, offset, limit)

    @override
    async def write_file(self, path: str, data: bytes, *, append: bool = False) -> int:
        return await asyncio.to_thread(self._files.write, path, data, append=append)

    @override
    async def install(self, root: str, files: Mapping[str, bytes]) -> None:
        await asyncio.to_thread(self._files.install, root, files)

    @override
    async def list_dir(self, path: str, *, depth: int = 1) -> Listing:
        return await asyncio.to_thread(self._files.list, path, depth)

    @override
    async def stat(self, path: str) -> FileInfo:
        return await asyncio.to_thread(self._files.stat, path)

    @override
    async def find(self, request: FindRequest) -> FindResult:
        return await self._search.run(request, FindResult)

    @override
    async def grep(self, request: GrepRequest) -> GrepResult:
        return await self._search.run(request, GrepResult, files=True)

    @override
    async def delete(self, path: str, *, recursive: bool = False) -> None:
        await asyncio.to_thread(self._files.delete, path, recursive=recursive)

    @override
    async def close(self) -> None:
        """Files stay. What commands left running lives on, without its pipes; processes are ended."""
        while self._processes:
            await self._processes.popitem()[1].end()
        for run in self._runs:
            run.close()
        while self._aliases:
            alias = self._aliases.pop()
            alias.unlink(missing_ok=True)
            alias.parent.rmdir()


def _clean(environ: Mapping[str, str]) -> dict[str, str]:
    """What a command needs to work, and nothing that may be a key: the person's environment is full of them."""
    return {k: v for k, v in environ.items() if k in _INHERITED or k.startswith("LC_")}


def _alias(root: Path, virtual: str) -> Path | None:
    """A link without blanks and quotes in its path, if the root's own would break commands that name it bare."""
    if re.fullmatch(r"[\w./@%+=:,-]+", os.path.realpath(root), re.ASCII):
        return None
    link = Path(tempfile.mkdtemp(prefix="skerry-")) / virtual.rpartition("/")[2]
    link.symlink_to(os.path.realpath(root), target_is_directory=True)
    return link
