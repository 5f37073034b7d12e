"""The user's kubectl: credentials, contexts and plugins are its business, and rights are the user's own."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, cast

__all__ = ["Kubectl", "KubectlError", "find_kubectl", "last_words", "objects"]

Json = dict[str, Any]
_FORWARDING = re.compile(rb"Forwarding from 127\.0\.0\.1:(\d+) ")
_LOGGED = re.compile(r"[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ ")
"""How klog begins a line."""
_NO_CLUSTER = ("localhost:8080", "no configuration has been provided")
_CHUNK = 256 * 1024
_LINE_MAX = 64 * 1024 * 1024
"""Longest line that is read: an AgentRun, or a line of a journal."""


class KubectlError(Exception):
    """kubectl failed; the message is what it said."""


def find_kubectl(env: Mapping[str, str]) -> tuple[str, ...]:
    """`SKERRY_KUBECTL`, or kubectl on the PATH. Raises KubectlError."""
    found = env.get("SKERRY_KUBECTL") or shutil.which("kubectl", path=env.get("PATH"))
    if not found:
        raise KubectlError("kubectl is not on the PATH; SKERRY_KUBECTL may name it")
    return (found,)


@dataclass(frozen=True)
class Kubectl:
    """kubectl for one namespace and context; None: those of the kubeconfig."""

    command: tuple[str, ...]
    """The program, with arguments that belong to every call."""
    namespace: str | None = None
    context: str | None = None

    async def json(self, *arguments: str, given: bytes | None = None) -> Json:
        """What `kubectl … -o json` prints; `given` goes to its stdin. Raises KubectlError."""
        answer: Json = json.loads(await self.text(*arguments, "--output=json", given=given))
        return answer

    async def text(self, *arguments: str, given: bytes | None = None) -> bytes:
        """What it prints. Raises KubectlError."""
        child = await self._start(*arguments, piped=given is not None)
        out, error = await child.communicate(given)
        if child.returncode:
            raise KubectlError(last_words(error))
        return out

    async def lines(self, *arguments: str) -> AsyncGenerator[bytes, None]:
        """Its output as it comes, without newlines; raises KubectlError when it fails in the end."""
        async with aclosing(self._pieces(arguments, asyncio.StreamReader.readline)) as lines:
            async for line in lines:
                yield line.rstrip(b"\n")

    async def chunks(self, *arguments: str) -> AsyncGenerator[bytes, None]:
        """The same in pieces of bytes, for what is no text."""
        async with aclosing(self._pieces(arguments, lambda out: out.read(_CHUNK))) as chunks:
            async for chunk in chunks:
                yield chunk

    async def _pieces(
        self, arguments: Sequence[str], take: Callable[[asyncio.StreamReader], Awaitable[bytes]]
    ) -> AsyncGenerator[bytes, None]:
        child = await self._start(*arguments)
        out, error = _pipes(child)
        said = asyncio.create_task(error.read())
        try:
            while piece := await take(out):
                yield piece
            if await child.wait():
                raise KubectlError(last_words(await said))
        finally:
            await _end(child)
            said.cancel()

    async def watch(self, *arguments: str) -> AsyncGenerator[Json, None]:
        """Objects as `kubectl get … --watch` shows them: the present state, then every change."""
        async with aclosing(self.lines("get", *arguments, "--watch", "--output=json")) as lines:
            async for each in objects(lines):
                yield each

    @asynccontextmanager
    async def forward(self, pod: str, port: int) -> AsyncIterator[int]:
        """A local port that leads to the Pod's. Raises KubectlError if there is none."""
        child = await self._start("port-forward", "--address=127.0.0.1", f"pod/{pod}", f":{port}")
        try:
            out, error = _pipes(child)
            found = _FORWARDING.match(await out.readline())
            if found is None:
                raise KubectlError(last_words(await error.read()))
            yield int(found[1])
        finally:
            await _end(child)

    @asynccontextmanager
    async def piped(
        self, *arguments: str
    ) -> AsyncIterator[tuple[asyncio.StreamWriter, asyncio.StreamReader, asyncio.StreamReader]]:
        """Its stdin, stdout and stderr; it is ended on the way out. Raises KubectlError if it can't be started."""
        child = await self._start(*arguments, piped=True)
        try:
            yield cast("asyncio.StreamWriter", child.stdin), *_pipes(child)
        finally:
            await _end(child)

    async def attached(self, *arguments: str) -> int:
        """Run it on this process's own terminal; its exit code. Raises KubectlError if it can't be started."""
        child = await self._start(*arguments, own=True)
        try:
            return await child.wait()
        finally:
            await _end(child)

    async def _start(
        self, *arguments: str, piped: bool = False, own: bool = False
    ) -> asyncio.subprocess.Process:
        where = [f"--context={self.context}"] if self.context else []
        where += [f"--namespace={self.namespace}"] if self.namespace else []
        try:
            return await asyncio.create_subprocess_exec(
                *self.command, *where, *arguments,
                stdin=None if own else asyncio.subprocess.PIPE if piped else asyncio.subprocess.DEVNULL,
                stdout=None if own else asyncio.subprocess.PIPE,
                stderr=None if own else asyncio.subprocess.PIPE, limit=_LINE_MAX,
            )  # fmt: skip
        except OSError as error:
            raise KubectlError(
                f"{self.command[0]}: {error.strerror or os.strerror(error.errno or 0)}"
            ) from error


async def objects(lines: AsyncIterator[bytes]) -> AsyncGenerator[Json, None]:
    """JSON objects as kubectl prints them one after another: each over several lines, the last of them a lone brace."""
    gathered: list[bytes] = []
    async for line in lines:
        gathered.append(line)
        if line == b"}":
            yield json.loads(b"\n".join(gathered))
            gathered = []


def _pipes(child: asyncio.subprocess.Process) -> tuple[asyncio.StreamReader, asyncio.StreamReader]:
    return cast("asyncio.StreamReader", child.stdout), cast("asyncio.StreamReader", child.stderr)


async def _end(child: asyncio.subprocess.Process) -> None:
    if child.returncode is None:
        # child.kill() would reap one that has just ended, of which asyncio's watcher then complains on stderr.
        with suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL)
    await child.wait()


def last_words(error: bytes) -> str:
    """What matters of kubectl's stderr: no lines of its log, and plain words where it has no cluster."""
    lines = [line for line in error.decode(errors="replace").splitlines() if line.strip()]
    if any(sign in line for line in lines for sign in _NO_CLUSTER):
        return "no cluster is configured: set KUBECONFIG or give --context"
    said = [line for line in lines if not _LOGGED.match(line)] or lines[-1:]
    return "\n".join(said).strip() or "kubectl failed without a word"
