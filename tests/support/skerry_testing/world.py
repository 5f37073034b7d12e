"""A prepared namespace on a whole cluster, as the end-to-end tests use it."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import yaml

from skerry_testing.apierrors import ApiError
from skerry_testing.apiserver import ApiServer
from skerry_testing.controlplane import ROOT
from skerry_testing.eventually import eventually_true
from skerry_testing.stack import Stack

__all__ = ["TERMINAL", "World", "bash", "say"]

Json = dict[str, Any]
TERMINAL = frozenset({"Succeeded", "Failed", "TimedOut", "Cancelled"})
PATIENCE = 120.0
"""Seconds that a state may take to come; generous, since two cores carry a whole cluster."""


def bash(command: str, call_id: str, **step: Any) -> Json:
    """A script step in which the model runs a command."""
    return {"toolCalls": [{"name": "bash", "args": {"command": command}, "id": call_id}], **step}


def say(text: str, *contains: str, **step: Any) -> Json:
    """A last step; the request before it must contain these patterns, else the run fails with ScriptMismatch."""
    return {"say": text, **({"expect": {"contains": list(contains)}} if contains else {}), **step}


@dataclass
class World:
    api: ApiServer
    stack: Stack
    made: list[tuple[str, str]] = field(default_factory=list)
    """(kind, name) of what the test made, in order."""

    async def create(self, kind: str, name: str, spec: Json, **top: Any) -> Json:
        body = {
            "apiVersion": "skerry.dev/v1alpha1",
            "kind": kind,
            "metadata": {"name": name},
            "spec": spec,
            **top,
        }
        self.made.append((kind, name))
        return await self.api.create(body)

    async def secret(self, name: str, **values: str) -> None:
        self.made.append(("Secret", name))
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": values}
        await self.api.create(body)

    async def config_map(self, name: str, data: dict[str, str], binary: dict[str, str] | None = None) -> None:
        """Values of `binary` are base64."""
        self.made.append(("ConfigMap", name))
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
        await self.api.create({**body, "binaryData": binary or {}})

    async def run(self, *steps: Json, name: str = "", **spec: Any) -> str:
        """Create an AgentRun that plays these steps; returns its name."""
        name = name or f"run-{secrets.token_hex(4)}"
        script = yaml.safe_dump({"steps": list(steps)}, sort_keys=False)
        base = {
            "profileRef": {"name": "scripted"},
            "prompt": "Do as the script says.",
            "model": {"script": script},
        }
        await self.create("AgentRun", name, {**base, **spec})
        return name

    async def wait(self, name: str, holds: Callable[[Json], bool], within: float = PATIENCE) -> Json:
        """The run, once its status holds."""
        return await self.api.wait_for(
            "AgentRun", name, lambda run: holds(run.get("status", {})), within=within
        )

    async def phase(self, name: str, *phases: str, within: float = PATIENCE) -> Json:
        """The status, once the run is in one of the phases; fails at once in another terminal one."""
        run = await self.wait(name, lambda status: status.get("phase") in {*phases, *TERMINAL}, within)
        status: Json = run["status"]
        assert status["phase"] in phases, json.dumps(status, indent=1)
        return status

    def journal(self, pod: str) -> list[Json]:
        """The journal's lines so far, from the log of a runner Pod, in order."""
        done = self.kubectl("logs", pod)
        assert done.returncode == 0, done.stderr
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        return [line for line in lines if "seq" in line]

    async def sandbox_gone(self, name: str) -> None:
        """The Sandbox object and its Pod are both gone."""
        await self.api.wait_gone("Sandbox", name, within=PATIENCE)
        await self.api.wait_gone("Pod", name, within=PATIENCE)

    def in_pod(self, pod: str, *command: str, check: bool = True) -> str:
        """Run a command in a Pod, as a person with pods/exec rights would."""
        done = self.kubectl("exec", pod, "--", *command)
        if check and done.returncode:
            raise AssertionError(f"exec in {pod} failed: {done.stderr}{done.stdout}")
        return done.stdout

    def kubectl(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [self.stack.kubectl, "-n", self.api.namespace, *arguments]
        environment = {**os.environ, "KUBECONFIG": str(self.stack.access.kubeconfig)}
        return subprocess.run(
            command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
        )

    async def kill_operator(self) -> None:
        """SIGKILL the operator's process on the node, and wait until its container runs anew."""
        async with ApiServer(self.stack.access, self.stack.operator_namespace) as system:
            pod = await self.operator_pod(system)
            before = pod["status"]["containerStatuses"][0]
            os.kill(self.stack.pid_of(before["containerID"]), signal.SIGKILL)

            async def restarted() -> bool:
                now = (await system.get("Pod", pod["metadata"]["name"]))["status"]["containerStatuses"][0]
                return now["restartCount"] > before["restartCount"] and "running" in now["state"]

            await eventually_true(restarted, within=PATIENCE)

    @staticmethod
    async def operator_pod(system: ApiServer) -> Json:
        (pod,) = await system.list("Pod", labels="skerry.dev/component=operator")
        return pod

    async def clean(self) -> None:
        """Delete what the test made, newest first, and the sandboxes that its runs left parked."""
        sandboxes = await self._sandboxes()
        for kind, name in reversed(self.made):
            await self._delete(kind, name)
        await asyncio.gather(*(self.api.wait_gone(kind, name, within=PATIENCE) for kind, name in self.made))
        for sandbox in sandboxes:
            await self._delete("Sandbox", sandbox)
        await asyncio.gather(*(self.sandbox_gone(sandbox) for sandbox in sandboxes))

    async def _delete(self, kind: str, name: str) -> None:
        """Unless it is gone: the operator deletes too, at any moment."""
        try:
            await self.api.delete(kind, name)
        except ApiError as error:
            if error.code != 404:
                raise

    async def _sandboxes(self) -> list[str]:
        """Names of those that the test's runs have used."""
        runs = [await self.api.find(kind, name) for kind, name in self.made if kind == "AgentRun"]
        used = [
            run["status"]["sandbox"]["name"] for run in runs if run and "sandbox" in run.get("status", {})
        ]
        return list(dict.fromkeys(used))

    async def show(self) -> str:
        """Everything a person would look at when a test has failed: its own objects, their logs, the operator's."""
        own = {name for _, name in self.made} | set(await self._sandboxes())
        runner_pods = await self.api.list("Pod", labels="skerry.dev/component=runner")
        own |= {
            pod["metadata"]["name"]
            for pod in runner_pods
            if pod["metadata"]["labels"].get("skerry.dev/run") in own
        }
        parts = []
        for kind in ("AgentRun", "Sandbox", "Pod", "Event"):
            for item in await self.api.list(kind):
                item["metadata"].pop("managedFields", None)
                if (item.get("involvedObject") or item["metadata"])["name"] in own:
                    parts.append(json.dumps(item))
        for name in [pod["metadata"]["name"] for pod in await self.api.list("Pod")]:
            if name in own:
                done = await asyncio.to_thread(self.kubectl, "logs", name, "--tail=60")
                parts.append(f"--- logs of {name}\n{done.stdout}{done.stderr}")
        async with ApiServer(self.stack.access, self.stack.operator_namespace) as system:
            for pod in await system.list("Pod", labels="skerry.dev/component=operator"):
                name = pod["metadata"]["name"]
                for previous in ("--previous", "--previous=false"):
                    done = await asyncio.to_thread(
                        self.kubectl,
                        "-n",
                        self.stack.operator_namespace,
                        "logs",
                        name,
                        "--tail=120",
                        previous,
                    )
                    parts.append(f"--- logs of {name} {previous}\n{done.stdout}")
        return "\n".join(parts)
