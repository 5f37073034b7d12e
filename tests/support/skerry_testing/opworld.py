"""The operator's loop on an API server in memory: the test is kubelet, runner and clock; the operator can be killed."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from skerry_api.base import format_time
from skerry_api.keys import SigningKey
from skerry_operator.cache.store import Store
from skerry_operator.events import EventRecorder
from skerry_operator.health import Health, Limits
from skerry_operator.kube.kinds import CLASS, POD, PROFILE, RUN, SANDBOX, Kind, Raw
from skerry_operator.kube.metered import MeteredPort
from skerry_operator.kube.port import RUNNER_MANAGER
from skerry_operator.metrics import Metrics
from skerry_operator.plan.actions import ProbeIdle
from skerry_operator.plan.types import IdleAnswer
from skerry_operator.reconcile.effects import Effects
from skerry_operator.reconcile.keyring import CURRENT, KeyRing
from skerry_operator.reconcile.resync import Resync
from skerry_operator.reconcile.term import Term, TermSettings
from skerry_operator.settings import PlanSettings
from skerry_testing.fakeclock import FakeClock
from skerry_testing.fakekube import FakeKube
from skerry_testing.faults import Crash, Faults
from skerry_testing.manifests import a_class, a_profile, a_run

__all__ = ["NAMESPACE", "FakeProbe", "OpWorld", "placed"]

NAMESPACE = "agents"
Json = dict[str, Any]
_STEPS = 2000
SETTINGS = PlanSettings(runner_image="runner:1", sandbox_image="sandbox:1")


def placed(manifest: Json, namespace: str = NAMESPACE) -> Json:
    return manifest | {"metadata": {**manifest["metadata"], "namespace": namespace}}


@dataclass
class FakeProbe:
    """sandboxd's answers: seconds that nobody used it, by sandbox; None: it can't be asked."""

    idle: dict[str, float | None] = field(default_factory=dict)
    asked: list[ProbeIdle] = field(default_factory=list)

    async def ask(self, question: ProbeIdle, now: Any) -> IdleAnswer:
        self.asked.append(question)
        return IdleAnswer(question.pod_uid, now, self.idle.get(question.sandbox, 1e9))


class OpWorld:
    """One namespace, one operator (more by `another`). Nothing happens but in `settle`, `go` and the test's own calls."""

    def __init__(
        self, clock: FakeClock | None = None, kube: FakeKube | None = None, keys: KeyRing | None = None
    ) -> None:
        self.clock = clock or FakeClock()
        self.kube = kube or FakeKube(self.clock, Faults())
        self.probe = FakeProbe()
        self.settings = SETTINGS
        self.metrics = Metrics()
        self.deaf = False
        """Whether the watch of this operator tells nothing."""
        self.dead = False
        self._numbers = count(1)
        self.keys = keys or self._key_ring()
        self.kube.watch(self._heard)
        self._boot()

    # The operator.

    def _boot(self) -> None:
        self.store = Store(self._changed)
        health = Health(self.clock.monotonic, Limits(1e9, 1e9, 1000))
        port = MeteredPort(self.kube, self.metrics, self.clock.monotonic)
        self.events = EventRecorder(self.kube, self.metrics, "test")
        effects = Effects(
            port=port,
            store=self.store,
            clock=self.clock,
            minter=self.keys,
            probe=self.probe,
            events=self.events,
            metrics=self.metrics,
            settings=lambda: self.settings,
            prepared=frozenset({NAMESPACE}),
        )
        self.resync = Resync(
            port=port, store=self.store, clock=self.clock, health=health, metrics=self.metrics, grace=0.0
        )
        self._effects, self._health = effects, health
        self.term: Term | None = self._new_term()

    def _new_term(self) -> Term:
        return Term(self._effects, self._health, TermSettings(workers=1), lambda: 0.5)

    async def start(self) -> None:
        """Lists everything and puts every key into the queue, as at the beginning of a term."""
        assert self.term is not None
        await self.resync.prime()
        self.term.begin()

    def next_term(self) -> None:
        """Leadership was lost and won again: the cache is warm, all else is new."""
        self.term = self._new_term()
        self.term.begin()

    def kill(self) -> None:
        """kill -9: everything in memory is gone."""
        self.dead, self.term = True, None

    async def restart(self) -> None:
        self.dead = False
        self._boot()
        await self.start()

    async def settle(self) -> None:
        """Work until no key waits for a worker. A Crash kills the operator and goes on to the test."""
        for _ in range(_STEPS):
            if self.term is None or not self.term.queue.depth:
                return
            try:
                await self.term.worker.step()
            except Crash:
                self.kill()
                raise
        keys = [str(key) for key in self.term.queue.processing] if self.term else []
        raise AssertionError(f"never at rest: {keys} {[str(call) for call in self.kube.faults.calls[-20:]]}")

    async def go(self, seconds: float) -> None:
        """Let time pass, working whenever a key's time has come."""
        end = self.clock.monotonic() + seconds
        await self.settle()
        while self.clock.monotonic() < end:
            step = self.clock.next_timer()
            left = end - self.clock.monotonic()
            await self.clock.advance(left if step is None else min(max(step, 0.0), left))
            await self.settle()

    async def compare(self) -> None:
        """A resync, and what it finds worked on."""
        assert self.term is not None
        checking = asyncio.create_task(self.resync.check())
        await self.clock.advance(0.0)
        await checking
        self.term.look_again(1.0)
        await self.go(2)

    def _heard(self, kind: Kind, event: str, raw: Raw) -> None:
        if self.deaf or self.dead or kind not in {RUN, SANDBOX, CLASS, PROFILE, POD}:
            return
        if event == "DELETED":
            meta = raw["metadata"]
            self.store.drop(
                kind, meta["namespace"], meta["name"], int(meta["resourceVersion"]), self.clock.now()
            )
        else:
            self.store.put(kind, raw)

    def _changed(self, change: Any) -> None:
        if self.term is not None:
            self.term.heard(change)

    def _key_ring(self) -> KeyRing:
        with tempfile.TemporaryDirectory() as directory:
            (Path(directory) / CURRENT).write_text(SigningKey.generate().to_pem(), encoding="ascii")
            return KeyRing(Path(directory), lambda: f"jti-{next(self._numbers):016}")

    # Persons.

    def prepare(self, sandbox_class: Json | None = None, **profile: Any) -> None:
        """A profile `p` and a class `default`."""
        self.kube.add(PROFILE, placed(a_profile("p", {"script": "steps: [{say: hi}]"}, **profile)))
        self.kube.add(CLASS, placed(sandbox_class or a_class("default")))

    def submit(self, name: str = "hello", **spec: Any) -> Json:
        return self.kube.add(RUN, placed(a_run(name, **spec)))

    def run(self, name: str = "hello") -> Json:
        found = self.kube.peek(RUN, NAMESPACE, name)
        assert found is not None, f"run {name} is gone"
        return found

    def status(self, name: str = "hello") -> Json:
        return dict(self.run(name).get("status") or {})

    def phase(self, name: str = "hello") -> str | None:
        return self.status(name).get("phase")

    def pods(self, component: str = "runner") -> list[Json]:
        pods = self.kube.all(POD, NAMESPACE)
        return [pod for pod in pods if pod["metadata"]["labels"]["skerry.dev/component"] == component]

    def sandbox(self) -> Json | None:
        found = self.kube.all(SANDBOX, NAMESPACE)
        assert len(found) <= 1, "more than one Sandbox"
        return found[0] if found else None

    def writes(self) -> list[str]:
        """The operator's writes that the budget counts: no Events, no Leases."""
        return [
            f"{call.verb} {call.kind}"
            for call in self.kube.faults.writes()
            if call.kind not in {"Event", "Lease"}
        ]

    def events_told(self) -> list[Json]:
        """Events that wait to be written; they are taken out."""
        told = []
        while not self.events.backlog.empty():
            told.append(self.events.backlog.get_nowait())
            self.events.backlog.task_done()
        return told

    # The kubelet.

    def kubelet_runs(self, name: str, *, ready: bool = True, ip: str = "198.18.0.9") -> None:
        def change(pod: Json) -> None:
            pod["spec"]["nodeName"] = "node-1"
            pod["status"] = {
                "phase": "Running",
                "podIP": ip,
                "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
                "containerStatuses": [{"state": {"running": {"startedAt": format_time(self.clock.now())}}}],
            }

        self._edit_pod(name, change)

    def kubelet_ends(self, name: str, code: int = 0, message: str = "", reason: str = "") -> None:
        ended = {"exitCode": code, "reason": reason or ("Completed" if code == 0 else "Error")}
        ended |= {"message": message} if message else {}

        def change(pod: Json) -> None:
            pod["status"] |= {
                "phase": "Succeeded" if code == 0 else "Failed",
                "conditions": [{"type": "Ready", "status": "False"}],
                "containerStatuses": [{"state": {"terminated": ended}}],
            }

        self._edit_pod(name, change)

    def kubelet_removes(self, name: str) -> None:
        self.kube.remove(POD, NAMESPACE, name)

    def _edit_pod(self, name: str, change: Callable[[Json], None]) -> None:
        self.kube.edit(POD, NAMESPACE, name, change)

    # The runner.

    def report(self, name: str = "hello", **fields: Any) -> None:
        """The runner's whole set: what it said before in this epoch, and these fields."""
        status = self.status(name)
        before = status.get("runner") or {}
        if before.get("epoch") != status["epoch"] or before.get("podUID") != status["podUID"]:
            before = {}
        sandbox_id = fields.pop("sandboxId", status.get("sandboxId"))
        runner = before | {"epoch": status["epoch"], "podUID": status["podUID"]} | fields
        whole = {"runner": runner} | ({"sandboxId": sandbox_id} if sandbox_id else {})
        self.kube.set_status(RUN, NAMESPACE, name, whole, RUNNER_MANAGER)

    def report_end(self, name: str = "hello", outcome: str = "Succeeded", **fields: Any) -> None:
        self.report(name, outcome={"class": outcome, "message": "done"}, **fields)

    def ask_for_sandbox(self, name: str = "hello") -> SigningKey:
        key = SigningKey.generate()
        epoch = self.status(name)["epoch"]
        self.report(name, sandboxRequest={"epoch": epoch, "publicKey": key.public.text})
        return key
