"""Which Pod a person means: the sandbox of a run, or a Sandbox by its own name. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from skerry_cli.kubectl import Kubectl

__all__ = ["NoSandbox", "Target", "pod_of", "target_of"]

Json = dict[str, Any]
_KINDS = {
    "ar": "agentrun", "agentrun": "agentrun", "agentruns": "agentrun",
    "sbx": "sandbox", "sandbox": "sandbox", "sandboxes": "sandbox",
}  # fmt: skip
_USABLE = ("Ready", "Parked")


class NoSandbox(Exception):
    """There is none to be used now; the message is for people."""


@dataclass(frozen=True)
class Target:
    """An object, as `NAME` (an AgentRun) or `TYPE/NAME`."""

    kind: str
    name: str


def target_of(text: str) -> Target:
    """Raises NoSandbox for a type that has no sandbox."""
    kind, slash, name = text.rpartition("/")
    if not slash:
        return Target("agentrun", text)
    found = _KINDS.get(kind.lower())
    if found is None or not name:
        raise NoSandbox(f"{text}: give the name of an AgentRun, or sbx/NAME")
    return Target(found, name)


async def pod_of(kubectl: Kubectl, target: Target) -> str:
    """The Pod's name. Raises NoSandbox, or KubectlError when there is no such object."""
    name = target.name
    if target.kind == "agentrun":
        run = await kubectl.json("get", "agentrun", name)
        status = run.get("status") or {}
        found = (status.get("sandbox") or {}).get("name")
        if not found:
            raise NoSandbox(f"AgentRun {name} has no sandbox ({status.get('phase') or 'Pending'})")
        name = found
    return usable(await kubectl.json("get", "sandbox", name))


def usable(sandbox: Json) -> str:
    """Its Pod's name. Raises NoSandbox."""
    status = sandbox.get("status") or {}
    phase, pod = status.get("phase") or "Pending", status.get("podName")
    if phase not in _USABLE or not pod:
        raise NoSandbox(f"Sandbox {sandbox['metadata']['name']} is {phase}: nothing runs in it")
    return str(pod)
