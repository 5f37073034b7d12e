"""A kubectl that knows one run with its sandbox, and leads to a real sandboxd; for the commands that go inside."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skerry_testing.sandboxd import Sandboxd, running_sandboxd

__all__ = ["InsideStand", "inside_stand"]

PATIENCE = 120


@dataclass(frozen=True)
class Done:
    code: int
    out: bytes
    error: str


@dataclass
class InsideStand:
    folder: Path
    sandboxd: Sandboxd

    def know(self, kind: str, name: str, status: dict[str, Any]) -> None:
        found = {"kind": kind, "metadata": {"name": name, "namespace": "runs"}, "status": status}
        (self.folder / f"{kind}-{name}").write_text(json.dumps(found))

    @property
    def asked(self) -> list[str]:
        return (self.folder / "asked").read_text().splitlines()

    @asynccontextmanager
    async def started(self, *arguments: str, **pipes: int) -> AsyncIterator[asyncio.subprocess.Process]:
        process = await asyncio.create_subprocess_exec(
            # A shell has what it starts in the background ignore interrupts, and that is handed down.
            "env", "--default-signal=INT", sys.executable, "-m", "skerry_cli", *arguments, cwd=self.folder,
            env={**os.environ, "SKERRY_KUBECTL": str(self.folder / "kubectl")},
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            stdin=pipes.get("stdin", asyncio.subprocess.DEVNULL),
        )  # fmt: skip
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()

    async def skerry(self, *arguments: str, given: bytes | None = None) -> Done:
        pipe = asyncio.subprocess.DEVNULL if given is None else asyncio.subprocess.PIPE
        async with asyncio.timeout(PATIENCE), self.started(*arguments, stdin=pipe) as process:
            out, error = await process.communicate(given)
        assert process.returncode is not None
        return Done(process.returncode, out, error.decode())


@asynccontextmanager
async def inside_stand(folder: Path) -> AsyncIterator[InsideStand]:
    """AgentRun `hello` with Sandbox `sb-1`, whose Pod is `sb-1` too."""
    async with running_sandboxd(folder / "sandbox", mounted=True) as sandboxd:
        stand = InsideStand(folder, sandboxd)
        stand.know("agentrun", "hello", {"phase": "Running", "sandbox": {"name": "sb-1"}})
        stand.know("sandbox", "sb-1", {"phase": "Ready", "podName": "sb-1"})
        script, python = folder / "kubectl", shlex.quote(sys.executable)
        script.write_text(
            f"""#!/bin/bash
cd {shlex.quote(str(folder))}
echo "$*" >>asked
words=("$@")
while [[ $1 == --* ]]; do shift; done
case "$1 $2" in
  "get "*) cat "$2-$3" 2>/dev/null || {{ echo "Error from server (NotFound): $2 \\"$3\\" not found" >&2; exit 1; }} ;;
  "exec --stdin")
    [ ! -e forbidden ] || {{ echo 'Error from server (Forbidden): pods "sb-1" is forbidden' >&2; exit 1; }}
    while [ "$1" != -- ]; do shift; done; shift
    case "$*" in
      */python\\ -m\\ skerry_sandboxd.connect)
        SKERRY_SOCKET={shlex.quote(str(sandboxd.socket))} exec {python} -m skerry_sandboxd.connect ;;
      *) exec "$@" ;;
    esac ;;
  *) echo "unexpected: ${{words[*]}}" >&2; exit 1 ;;
esac
"""
        )
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        yield stand
