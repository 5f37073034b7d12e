"""`skerry shell`: a terminal in a sandbox, by kubectl itself; meanwhile the sandbox counts as used."""

from __future__ import annotations

import asyncio
import os
import sys

from skerry_cli.bridge import Refused
from skerry_cli.execute import BAD_INPUT, entered
from skerry_cli.kubectl import Kubectl, KubectlError, find_kubectl
from skerry_cli.sandboxes import NoSandbox

__all__ = ["shell"]

_START = 'cd "$1" 2>/dev/null; exec "${SHELL:-/bin/bash}"'
_WORKSPACE = "/mnt/user-data/workspace"


def shell(name: str, namespace: str | None, context: str | None) -> int:
    """The shell's exit code; 2: there is no way in."""
    try:
        kubectl = Kubectl(find_kubectl(os.environ), namespace, context)
        return asyncio.run(_shell(kubectl, name, tty=sys.stdin.isatty()))
    except (KubectlError, NoSandbox, Refused) as error:
        print(f"skerry: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return 130


async def _shell(kubectl: Kubectl, name: str, *, tty: bool) -> int:
    async with entered(kubectl, name) as (door, pod):
        await door.call(
            "GET", "/v1/idle"
        )  # Says in plain words when there is no sandboxd, and is the first use.
        terminal = ("--stdin", "--tty") if tty else ("--stdin",)
        where = (f"pod/{pod}", "--container=sandbox", "--")
        return await kubectl.attached(
            "exec", *terminal, *where, "/bin/bash", "-c", _START, "bash", _WORKSPACE
        )
