"""The shell's pass over a cluster in memory: the order that `plan/types.py` prescribes, without cache or errors."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from skerry_api.agentrun import RUNNER_FIELDS, AgentRun
from skerry_api.grants import Confirmation, Grant, RunRef, issue_grant
from skerry_api.keys import PublicKey, SigningKey
from skerry_api.labels import Label
from skerry_api.phases import RunPhase, may_follow
from skerry_api.sandbox import Sandbox
from skerry_operator.plan.actions import (
    Refusal,
)
from skerry_operator.plan.admission import plan_admission
from skerry_operator.plan.lookup import Found, Lookup, Missing
from skerry_operator.plan.podview import NodeState, PodView, read_pod
from skerry_operator.plan.resolve import class_name, class_names, sandbox_name
from skerry_operator.plan.run import plan_run
from skerry_operator.plan.sandbox import plan_sandbox
from skerry_operator.plan.types import (
    GrantRequest,
    ObservedQueue,
    ObservedRun,
    ObservedSandbox,
    Plan,
    QueueEntry,
)
from skerry_testing.plancluster import PlanCluster
from skerry_testing.plans import NS, SETTINGS

__all__ = ["PlanWorld"]

KEY = SigningKey.generate()
MAX_ROUNDS = 12


class PlanWorld(PlanCluster):
    def settle(self) -> None:
        """Every key, until nobody wants anything at this moment."""
        for _ in range(MAX_ROUNDS):
            before = self.writes.total()
            self._decide()
            for name in self.run_names():
                self.settle_run(name)
            for name in self.sandbox_names():
                self.settle_sandbox(name)
            if self.writes.total() == before:
                return
        raise AssertionError("the keys wake each other for ever")

    def settle_run(self, name: str) -> datetime | None:
        refusal: Refusal | None = None
        for _ in range(MAX_ROUNDS):
            plan = plan_run(self.see_run(name, live=False, refusal=refusal), self.now, SETTINGS)
            assert not plan.actions, "nothing is done on hearsay"
            if plan.needs_live:
                plan = plan_run(self.see_run(name, live=True, refusal=refusal), self.now, SETTINGS)
                assert not plan.needs_live
            if plan.actions:
                assert plan.status is None
                refusal = self._act(plan) or refusal
            elif plan.status is not None:
                self._write_run(name, plan)
            else:
                return plan.wake_at
        raise AssertionError(f"run {name} does not come to rest")

    def settle_sandbox(self, name: str) -> datetime | None:
        refusal: Refusal | None = None
        for _ in range(MAX_ROUNDS):
            plan = plan_sandbox(self.see_sandbox(name, live=False, refusal=refusal), self.now, SETTINGS)
            assert not plan.actions, "nothing is done on hearsay"
            if plan.needs_live:
                plan = plan_sandbox(self.see_sandbox(name, live=True, refusal=refusal), self.now, SETTINGS)
                assert not plan.needs_live
            if plan.actions:
                refusal = self._act(plan) or refusal
            elif plan.status is not None:
                self.sandboxes[name]["status"] = plan.status
                self._count("status", plan)
            else:
                return plan.wake_at
        raise AssertionError(f"sandbox {name} does not come to rest")

    def run_names(self) -> list[str]:
        left = {
            pod["metadata"]["labels"][Label.RUN]
            for pod in self.pods.values()
            if Label.RUN in pod["metadata"]["labels"]
        }
        return sorted({*self.runs, *left})

    def sandbox_names(self) -> list[str]:
        asked = {sandbox_name(AgentRun.read(run)) for run in self.runs.values()}
        left = {name for name, pod in self.pods.items() if Label.SANDBOX in pod["metadata"]["labels"]}
        return sorted({*self.sandboxes, *asked, *left})

    def see_run(self, name: str, *, live: bool, refusal: Refusal | None = None) -> ObservedRun:
        run = AgentRun.read(self.runs[name]) if name in self.runs else None
        profile = self._profile(run) if run else Missing()
        kind = (
            self._class(class_name(run, profile.value)) if run and isinstance(profile, Found) else Missing()
        )
        box = self.sandboxes.get(sandbox_name(run)) if run else None
        return ObservedRun(
            NS, name, run, self._pods(Label.RUN, name), profile=profile, sandbox_class=kind, profile_policy=Missing(),
            sandbox=Sandbox.read(box) if box else None, refusal=refusal, live=live,
            admission=self.decisions.get(run.metadata.uid) if run else None,
            status_written=self.written.get(run.metadata.uid) if run else None,
        )  # fmt: skip

    def see_sandbox(self, name: str, *, live: bool, refusal: Refusal | None = None) -> ObservedSandbox:
        box = self.sandboxes.get(name)
        sandbox = Sandbox.read(box) if box else None
        runs = tuple(run for raw in self.runs.values() if sandbox_name(run := AgentRun.read(raw)) == name)
        profiles = {run.spec.profile_ref.name: self._profile(run) for run in runs}
        names = class_names(sandbox, runs, profiles)
        return ObservedSandbox(
            NS, name, sandbox, runs, self._pods(Label.SANDBOX, name), classes={each: self._class(each) for each in names},
            class_policies={each: self._policy(each) for each in names}, profiles=profiles,
            probe=self.probes.get(name), refusal=refusal, live=live,
        )  # fmt: skip

    def _decide(self) -> None:
        runs = [AgentRun.read(raw) for raw in self.runs.values()]
        owners = {read_pod(pod).owner_uid for pod in self.pods.values()}
        entries = tuple(QueueEntry(run, self._profile(run), run.metadata.uid in owners) for run in runs)
        boxes = {name: Sandbox.read(raw) for name, raw in self.sandboxes.items()}
        observed = ObservedQueue(
            NS, entries, boxes, {name: Found(each) for name, each in self.classes.items()}, self.admitted
        )
        plan = plan_admission(observed, self.now, SETTINGS)
        self.admitted, self.decisions = plan.admitted, dict(plan.decisions)

    def _act(self, plan: Plan) -> Refusal | None:
        for action in plan.actions:
            refusal = self.do(action)
            if refusal is not None:
                return refusal
        return None

    def _write_run(self, name: str, plan: Plan) -> None:
        run = self.runs[name]
        assert plan.status is not None
        old, new = run["status"], dict(plan.status)
        before = RunPhase(old["phase"]) if "phase" in old else None
        assert may_follow(before, RunPhase(new["phase"]))
        assert new.get("epoch", 0) >= old.get("epoch", 0)
        if plan.grant is not None:
            new["sandbox"] = {**new["sandbox"], "grant": self._mint(plan.grant)}
        run["status"] = new | {key: old[key] for key in RUNNER_FIELDS if key in old}
        self.written[run["metadata"]["uid"]] = self.now
        self._count("status", plan)

    def _mint(self, wanted: GrantRequest) -> str:
        self.mints += 1
        return issue_grant(
            Grant(
                namespace=wanted.namespace, sandbox_id=wanted.sandbox_id, pod_uid=wanted.pod_uid, epoch=wanted.epoch,
                run=RunRef(uid=wanted.run_uid, name=wanted.run_name), jti=f"jti-{self.mints}",
                cnf=Confirmation(jkt=PublicKey.from_text(wanted.public_key).thumbprint),
                iat=int(self.now.timestamp()), exp=int(wanted.expires.timestamp()),
            ),
            KEY,
        )  # fmt: skip

    def _count(self, kind: str, plan: Plan) -> None:
        self.writes[kind] += 1
        self.events += [event.reason for event in plan.events]

    def _pods(self, label: Label, value: str) -> tuple[PodView, ...]:
        return tuple(
            read_pod(pod, self.nodes.get(name, NodeState.PRESENT))
            for name, pod in self.pods.items()
            if pod["metadata"]["labels"].get(label) == value
        )

    def _profile(self, run: AgentRun) -> Lookup[Any]:
        found = self.profiles.get(run.spec.profile_ref.name)
        return Found(found) if found else Missing()

    def _class(self, name: str) -> Lookup[Any]:
        return Found(self.classes[name]) if name in self.classes else Missing()

    def _policy(self, name: str) -> Lookup[str]:
        from skerry_api.names import class_policy_name

        found = self.policies.get(class_policy_name(name))
        return Found(found) if found else Missing()
