"""A server that tests bring along, as a Pod behind a Service: its source in a ConfigMap, on an image of ours."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skerry_testing.world import PATIENCE, World

__all__ = ["ServerPod", "mcp_server", "openai_stub", "policy_stub", "serve"]

PORT = 8000
PYTHON = {"runner": "/opt/skerry/bin/python", "sandbox": "python3"}
SUPPORT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class ServerPod:
    service: str
    """Base URL by the Service's name: for Pods."""
    direct: str
    """Base URL by the Pod's address: for this machine as well, which knows no names of Services."""
    cidr: str
    """What a profile's runner.network.allow must hold; policies are judged behind the Service."""


async def serve(
    world: World,
    name: str,
    arguments: Sequence[str],
    *,
    files: dict[str, str],
    health: dict[str, Any],
    image: str = "runner",
    env: dict[str, str] | None = None,
) -> ServerPod:
    """Run `python ARGUMENTS` in a directory with these files, and wait until its probe is content."""
    await world.config_map(name, files)
    security = {
        "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True,
        "runAsUser": 10001, "seccompProfile": {"type": "RuntimeDefault"}, "readOnlyRootFilesystem": True,
    }  # fmt: skip
    container = {
        "name": "server", "image": world.stack.images[image], "securityContext": security,
        "command": [PYTHON[image], *arguments], "workingDir": "/srv/code",
        "env": [{"name": key, "value": value} for key, value in (env or {}).items()],
        "volumeMounts": [{"name": "code", "mountPath": "/srv/code"}],
        "readinessProbe": {**health, "periodSeconds": 1, "failureThreshold": 60},
    }  # fmt: skip
    meta = {"name": name, "labels": {"test-server": name}}
    pod = {
        "apiVersion": "v1", "kind": "Pod", "metadata": meta,
        "spec": {
            "containers": [container], "volumes": [{"name": "code", "configMap": {"name": name}}],
            "automountServiceAccountToken": False, "terminationGracePeriodSeconds": 0, "restartPolicy": "Never",
        },
    }  # fmt: skip
    service = {
        "apiVersion": "v1", "kind": "Service", "metadata": meta,
        "spec": {"selector": {"test-server": name}, "ports": [{"port": PORT}]},
    }  # fmt: skip
    for body in (service, pod):
        world.made.append((str(body["kind"]), name))
        await world.api.create(body)
    up = await world.api.wait_for("Pod", name, _ready, within=PATIENCE)
    address = up["status"]["podIP"]
    return ServerPod(
        f"http://{name}.{world.api.namespace}.svc:{PORT}", f"http://{address}:{PORT}", f"{address}/32"
    )


def _ready(pod: dict[str, Any]) -> bool:
    conditions = pod["status"].get("conditions", ())
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


async def openai_stub(world: World, name: str, replies: dict[str, list[dict[str, Any]]]) -> ServerPod:
    """The OpenAI-compatible stand-in, with a list of replies for each model's name."""
    sources = {
        each: (SUPPORT / each).read_text(encoding="utf-8")
        for each in ("openai_stub.py", "openai_stub_replies.py")
    }
    arguments = ("openai_stub.py", "--bind", f"0.0.0.0:{PORT}", "--replies", "replies.json")
    return await serve(
        world, name, arguments,
        files={**sources, "replies.json": json.dumps(replies)},
        health={"httpGet": {"path": "/healthz", "port": PORT}},
    )  # fmt: skip


async def policy_stub(
    world: World, name: str, *, authorization: str, deny: dict[str, str], last: str
) -> ServerPod:
    """The stand-in for a policy endpoint, at any path. It is asked with that header, denies the calls of these ids with
    their reasons, and its Pod ends at the `last` one; what it was asked stands in the Pod's log, as JSON."""
    rules = {"authorization": authorization, "deny": deny, "last": last}
    source = (SUPPORT / "policy_stub.py").read_text(encoding="utf-8")
    return await serve(
        world, name, ("policy_stub.py", str(PORT), "rules.json"),
        files={"policy_stub.py": source, "rules.json": json.dumps(rules)},
        health={"httpGet": {"path": "/health", "port": PORT}},
    )  # fmt: skip


async def mcp_server(world: World, name: str) -> ServerPod:
    """The MCP server of `mcpserver`, over streamable HTTP at `/mcp`."""
    source = (SUPPORT / "skerry_testing" / "mcpserver.py").read_text(encoding="utf-8")
    return await serve(
        world, name, ("mcpserver.py", "http", str(PORT), "0.0.0.0"),
        files={"mcpserver.py": source}, health={"tcpSocket": {"port": PORT}},
    )  # fmt: skip
