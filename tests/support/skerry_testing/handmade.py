"""What nodes and runners do, done by hand against an API server that has none."""

from __future__ import annotations

from typing import Any

from skerry_api.keys import SigningKey
from skerry_testing.apierrors import ApiError
from skerry_testing.apiserver import ApiServer
from skerry_testing.manifests import a_class, a_profile, a_run

__all__ = ["Hands"]

Json = dict[str, Any]
SCRIPT = "steps: [{say: hi}]"


class Hands:
    """Kubelet, runner and user of one namespace."""

    def __init__(self, api: ApiServer) -> None:
        self.api = api

    async def prepare(self, sandbox_class: Json | None = None, **profile: Any) -> None:
        """What the chart prepares, as far as objects of the API need it."""
        await self.api.create(
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "skerry-runner"}}
        )
        await self.api.create(sandbox_class or a_class("default"))
        await self.api.create(a_profile("p", {"script": SCRIPT}, **profile))

    async def submit(self, name: str = "hello", **spec: Any) -> Json:
        return await self.api.create(a_run(name, **spec))

    async def phase(self, phase: str, name: str = "hello") -> Json:
        """The run, once it is in the phase."""
        return await self.api.wait_for(
            "AgentRun", name, lambda run: run.get("status", {}).get("phase") == phase
        )

    async def pod(self, name: str) -> Json:
        """The Pod, once it is there."""
        return await self.api.wait_for("Pod", name, lambda _: True)

    async def kubelet_runs(self, name: str, ip: str = "198.18.0.9", *, bind: bool = False) -> None:
        """Running and ready; bound Pods are deleted with grace, as on a node."""
        await self.pod(name)
        if bind:
            await self._bind(name)
        await self._pod_status(
            name,
            phase="Running",
            podIP=ip,
            podIPs=[{"ip": ip}],
            conditions=[{"type": "Ready", "status": "True"}],
            containerStatuses=[
                _container(name, {"running": {"startedAt": "2026-01-01T00:00:00Z"}}, ready=True)
            ],
        )

    async def kubelet_ends(self, name: str, code: int = 0, message: str = "") -> None:
        state = {
            "terminated": {
                "exitCode": code,
                "reason": "Completed" if code == 0 else "Error",
                "message": message,
            }
        }
        await self._pod_status(
            name,
            phase="Succeeded" if code == 0 else "Failed",
            conditions=[{"type": "Ready", "status": "False"}],
            containerStatuses=[_container(name, state, ready=False)],
        )

    async def kubelet_removes(self, name: str) -> None:
        """The Pod object is gone, whoever wanted it."""
        await self.api.delete("Pod", name, grace=0)

    async def report(self, name: str = "hello", **fields: Any) -> None:
        """The runner's whole set: what it said before in this epoch, and these fields."""
        status = (await self.api.get("AgentRun", name))["status"]
        before = status.get("runner") or {}
        if before.get("podUID") != status["podUID"]:
            before = {}
        runner = before | {"epoch": status["epoch"], "podUID": status["podUID"]} | fields
        sandbox_id = runner.pop("sandboxId", status.get("sandboxId"))
        whole = {"runner": runner} | ({"sandboxId": sandbox_id} if sandbox_id else {})
        await self.api.apply_status("AgentRun", name, whole, "skerry-runner")

    async def report_end(self, name: str = "hello", outcome: str = "Succeeded", **fields: Any) -> None:
        await self.report(name, outcome={"class": outcome, "message": "done"}, **fields)

    async def ask_for_sandbox(self, name: str = "hello") -> None:
        epoch = (await self.api.get("AgentRun", name))["status"]["epoch"]
        key = SigningKey.generate().public.text
        await self.report(name, sandboxRequest={"epoch": epoch, "publicKey": key})

    async def events(self, kind: str, name: str) -> list[str]:
        """Reasons of the Events about an object, oldest first."""
        found = await self.api.list("Event", fields=f"involvedObject.kind={kind},involvedObject.name={name}")
        found.sort(key=lambda event: int(event["metadata"]["resourceVersion"]))
        return [str(event["reason"]) for event in found]

    async def _bind(self, name: str) -> None:
        body = {
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
            "target": {"apiVersion": "v1", "kind": "Node", "name": "node-1"},
        }  # fmt: skip
        path = f"/api/v1/namespaces/{self.api.namespace}/pods/{name}/binding"
        answer = await self.api.http.post(path, json=body)
        if not answer.is_success and answer.status_code != 409:
            raise ApiError(answer.status_code, "", answer.text, ())

    async def _pod_status(self, name: str, **status: Any) -> None:
        await self.api.patch("Pod", name, {"status": status}, subresource="status", how="merge")


def _container(pod: str, state: Json, *, ready: bool) -> Json:
    name = "sandbox" if pod.startswith("sbx-") else "runner"
    return {"name": name, "image": "i", "imageID": "i", "ready": ready, "restartCount": 0, "state": state}
