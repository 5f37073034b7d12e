"""A Pod to call from: what NetworkPolicy and sandboxd let through is seen only from inside the cluster."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from skerry_testing.world import PATIENCE, World

__all__ = ["Answer", "Probe", "probe"]

# status and body as JSON, or the error's name: nothing but the standard library, as the image has it.
_CALL = """
import json, sys, urllib.error, urllib.request
url, method, headers, body = sys.argv[1:5]
request = urllib.request.Request(url, method=method, headers=json.loads(headers), data=body.encode() or None)
try:
    with urllib.request.urlopen(request, timeout=4) as answer:
        print(json.dumps([answer.status, answer.read().decode()]))
except urllib.error.HTTPError as error:
    print(json.dumps([error.code, error.read().decode()]))
except (OSError, TimeoutError) as error:
    print(json.dumps([0, repr(error)]))
"""
_CONNECT = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=3).close()
    print("open")
except OSError as error:
    print(type(error).__name__)
"""


@dataclass(frozen=True)
class Answer:
    """status 0: there was no answer at all, and `body` says why."""

    status: int
    body: str


_RESOLVE = """
import socket, sys
try:
    print(socket.getaddrinfo(sys.argv[1], None)[0][4][0])
except OSError as error:
    print(type(error).__name__)
"""


@dataclass(frozen=True)
class Probe:
    world: World
    pod: str
    namespace: str = ""
    """Empty: the world's."""

    def call(
        self, url: str, method: str = "GET", headers: dict[str, str] | None = None, body: str = ""
    ) -> Answer:
        words = ("python3", "-c", _CALL, url, method, json.dumps(headers or {}), body)
        return Answer(*json.loads(self._run(*words)))

    def connects(self, host: str, port: int) -> bool:
        """Whether a TCP connection opens within three seconds."""
        return self._run("python3", "-c", _CONNECT, host, str(port)) == "open"

    def resolves(self, name: str) -> str:
        """The address that the Pod's DNS gives, or the error's name."""
        return self._run("python3", "-c", _RESOLVE, name)

    def _run(self, *command: str) -> str:
        within = ("-n", self.namespace) if self.namespace else ()
        done = self.world.kubectl("exec", self.pod, *within, "--", *command)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


async def probe(world: World, name: str, *, image: str = "sandbox", **labels: str) -> Probe:
    """A running Pod with these labels, under the namespace's Pod Security."""
    security: dict[str, Any] = {
        "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True,
        "runAsUser": 10001, "seccompProfile": {"type": "RuntimeDefault"},
    }  # fmt: skip
    container = {
        "name": "probe", "image": world.stack.images[image], "command": ["sleep", "600"], "securityContext": security,
    }  # fmt: skip
    body = {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels},
        "spec": {
            "containers": [container], "automountServiceAccountToken": False, "terminationGracePeriodSeconds": 0,
            "restartPolicy": "Never",
        },
    }  # fmt: skip
    world.made.append(("Pod", name))
    await world.api.create(body)
    await world.api.wait_for(
        "Pod", name, lambda pod: pod["status"].get("phase") == "Running", within=PATIENCE
    )
    return Probe(world, name)
