"""`skerry shell`: a terminal in a sandbox, by kubectl itself; meanwhile the sandbox counts as used."""

from __future__ import annotations

import sys

from skerry_cli.entry import by_kubectl, entered
from skerry_cli.kubectl import Kubectl

__all__ = ["shell"]

_START = 'cd "$1" 2>/dev/null; exec "${SHELL:-/bin/bash}"'
_WORKSPACE = "/mnt/user-data/workspace"


def shell(name: str, namespace: str | None, context: str | None) -> int:
    """The shell's exit code; 2: there is no way in."""
    tty = sys.stdin.isatty()
    return by_kubectl(lambda kubectl: _shell(kubectl, name, tty=tty), namespace, context)


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
