"""A run without a Pod: what it waits for, and the Pod."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from skerry_api.labels import Annotation
from skerry_api.phases import QueueReason
from skerry_operator.build.policies import policy_hash
from skerry_operator.plan.actions import (
    ApplyPolicy,
    CreatePod,
    DeletePod,
    Refusal,
    RefusalKind,
)
from skerry_operator.plan.lookup import UNKNOWN, Broken, Found, Missing
from skerry_operator.plan.run import plan_run
from skerry_operator.plan.types import Plan, TextRef, Waits
from skerry_testing.planrun import RUNNING, see, status_of
from skerry_testing.plans import (
    NOW,
    NS,
    SETTINGS,
    a_pod,
    a_profile,
    a_run,
    after,
    conditions,
    running,
)

Json = dict[str, Any]


class TestStart:
    def test_first_act_is_the_pod_and_no_status_goes_before_it(self) -> None:
        plan = plan_run(see(a_run()), NOW, SETTINGS)
        assert [type(each) for each in plan.actions] == [CreatePod]
        assert plan.status is None
        [create] = plan.actions
        assert isinstance(create, CreatePod)
        assert create.manifest["metadata"]["name"] == "run-1"
        document = json.loads(create.manifest["metadata"]["annotations"][Annotation.DOCUMENT])
        assert document["run"] == {
            "namespace": NS,
            "name": "run",
            "uid": "uid-run",
            "generation": 1,
            "epoch": 1,
        }

    def test_nothing_is_made_on_hearsay(self) -> None:
        plan = plan_run(see(a_run(), live=False), NOW, SETTINGS)
        assert plan == Plan(needs_live=True)

    def test_a_pod_seen_is_what_the_first_status_tells(self) -> None:
        status = status_of(plan_run(see(a_run(), a_pod(phase="Pending")), NOW, SETTINGS))
        assert (status["phase"], status["epoch"], status["attempts"]) == ("Provisioning", 1, 1)
        assert (status["podName"], status["podUID"]) == ("run-1", "pod-run-1")
        assert status["profile"] == {"uid": "uid-coder", "generation": 1}
        assert status["deadline"] == "2026-01-01T12:10:00Z"
        assert conditions(status)["Reconciling"] == ("True", "Starting")

    def test_policy_of_the_profile_comes_before_the_pod(self) -> None:
        profile = Found(a_profile(runner={"network": {"allow": ["10.0.0.0/8"]}}))
        plan = plan_run(see(a_run(), profile=profile), NOW, SETTINGS)
        assert [type(each) for each in plan.actions] == [ApplyPolicy, CreatePod]

    def test_a_policy_that_nobody_could_read_is_waited_for(self) -> None:
        """An older and wider one may stand."""
        plan = plan_run(see(a_run(), profile_policy=UNKNOWN), NOW, SETTINGS)
        assert plan == Plan(wake_at=after(5))

    def test_a_changed_policy_reaches_a_pod_that_runs(self) -> None:
        seen = (a_run(status=RUNNING), a_pod(state=running))
        profile = Found(a_profile(runner={"network": {"allow": ["10.0.0.0/8"]}}))
        older = plan_run(see(*seen, profile=profile, profile_policy=Found("older")), NOW, SETTINGS)
        [change] = older.actions
        assert isinstance(change, ApplyPolicy)
        assert plan_run(see(*seen, profile=profile), NOW, SETTINGS).actions == older.actions
        same = Found(policy_hash(change.manifest))
        assert plan_run(see(*seen, profile=profile, profile_policy=same), NOW, SETTINGS).actions == ()
        emptied = plan_run(see(*seen, profile_policy=same), NOW, SETTINGS)
        assert [type(each) for each in emptied.actions] == [ApplyPolicy]
        for nothing in (UNKNOWN, Missing()):
            assert plan_run(see(*seen, profile_policy=nothing), NOW, SETTINGS).actions == ()

    def test_without_a_decision_it_waits_silently(self) -> None:
        assert plan_run(see(a_run(), admission=None), NOW, SETTINGS) == Plan()

    def test_queued_says_place_and_reason(self) -> None:
        waits = Waits(12, QueueReason.NAMESPACE_LIMIT, "full")
        status = status_of(plan_run(see(a_run(), admission=waits), NOW, SETTINGS))
        assert status["queue"] == {"position": 20, "reason": "NamespaceLimit"}
        assert "deadline" not in status
        assert "epochTime" not in status

    @pytest.mark.parametrize(
        ("world", "reason", "path"),
        [
            ({"profile": Missing()}, "ProfileNotFound", "spec.profileRef.name"),
            ({"sandbox_class": Missing()}, "SandboxClassNotFound", "spec.sandbox.classRef.name"),
            (
                {"profile": Broken("AgentProfile coder: spec.tools: odd")},
                "ProfileUnreadable",
                "spec.profileRef.name: AgentProfile coder: spec.tools: odd",
            ),
            (
                {"sandbox_class": Broken("SandboxClass default: spec.release: odd")},
                "SandboxClassUnreadable",
                "spec.sandbox.classRef.name: SandboxClass default: spec.release: odd",
            ),
            (
                {"texts": {TextRef("cm", "k"): Missing("key k in ConfigMap cm")}},
                "ConfigMapNotFound",
                "spec.promptFrom.configMapKeyRef: there is no key k in ConfigMap cm",
            ),
        ],
    )
    def test_what_a_person_must_bring_is_waited_for_until_the_deadline(
        self, world: Json, reason: str, path: str
    ) -> None:
        source = {"configMapKeyRef": {"name": "cm", "key": "k"}}
        run = a_run(prompt=None, promptFrom=source) if reason == "ConfigMapNotFound" else a_run()
        status = status_of(plan_run(see(run, **world), NOW, SETTINGS))
        assert status["phase"] == "Pending"
        assert conditions(status)["Reconciling"] == ("True", reason)
        assert path in status["conditions"][0]["message"]
        waiting = run.model_copy(update={"status": a_run(status=status).status})
        late = status_of(plan_run(see(waiting, **world), after(600), SETTINGS))
        assert (late["phase"], late["failure"]["class"]) == ("Failed", "InvalidSpec")
        assert path in late["failure"]["message"]

    def test_unknown_is_not_missing(self) -> None:
        plan = plan_run(see(a_run(), profile=UNKNOWN), NOW, SETTINGS)
        assert plan.status is None
        assert plan.actions == ()
        assert plan.wake_at is not None

    def test_an_unprepared_namespace_stalls_and_is_not_terminal(self) -> None:
        observed = see(a_run(), prepared=False)
        status = status_of(plan_run(observed, NOW, SETTINGS))
        assert status["phase"] == "Pending"
        assert conditions(status)["Stalled"] == ("True", "NamespaceNotPrepared")
        blocked = a_run(status=status)
        assert plan_run(see(blocked, prepared=False), after(10_000), SETTINGS) == Plan()
        assert plan_run(see(blocked), after(10_000), SETTINGS).actions != ()

    @pytest.mark.parametrize(
        ("spec", "path"),
        [
            ({"model": {"name": "openai:gpt-x"}}, "spec.model.name"),
            ({"sandbox": {"classRef": {"name": "gpu"}}}, "spec.sandbox.classRef.name"),
            ({"prompt": "x" * 65_000, "model": {"script": "é" * 70_000}}, "spec.model.script"),
        ],
    )
    def test_what_waiting_does_not_mend_fails_with_the_field(self, spec: Json, path: str) -> None:
        observed = see(a_run(**spec), sandbox_class=Missing())
        status = status_of(plan_run(observed, NOW, SETTINGS))
        assert (status["phase"], status["failure"]["class"]) == ("Failed", "InvalidSpec")
        assert status["failure"]["message"].startswith(path)
        assert plan_run(replace(observed, live=False), NOW, SETTINGS) == Plan(needs_live=True)

    @pytest.mark.parametrize(
        ("kind", "failure"),
        [
            (RefusalKind.FORBIDDEN, "AdmissionForbidden"),
            (RefusalKind.INVALID, "InvalidSpec"),
            (RefusalKind.NAME_TAKEN, "StartupTimeout"),
        ],
    )
    def test_a_refused_pod_is_tried_again_until_the_deadline(self, kind: RefusalKind, failure: str) -> None:
        refusal = Refusal(kind, "no, because")
        plan = plan_run(see(a_run(), refusal=refusal), NOW, SETTINGS)
        status = status_of(plan)
        assert status["phase"] == "Provisioning"
        assert "epoch" not in status
        assert plan.wake_at == NOW + SETTINGS.retry_refused
        refused = a_run(status=status)
        assert [type(each) for each in plan_run(see(refused), after(60), SETTINGS).actions] == [CreatePod]
        late = status_of(plan_run(see(refused, refusal=refusal), after(600), SETTINGS))
        assert late["failure"] == {"class": failure, "message": "not running after 600 s: no, because"}

    def test_remains_of_a_former_run_go_before_a_pod_is_made(self) -> None:
        old = a_pod(owner="uid-former")
        plan = plan_run(see(a_run(), old), NOW, SETTINGS)
        assert plan.actions == (DeletePod(NS, "run-1", "pod-run-1"),)
        going = a_pod(owner="uid-former", deleted=after(30))
        status = status_of(plan_run(see(a_run(), going), NOW, SETTINGS))
        assert conditions(status)["Ready"] == ("False", "PodRemains")

    @pytest.mark.parametrize(
        ("missing", "message"),
        [
            (Missing("ConfigMap cm"), "there is no ConfigMap cm"),
            (Missing("key k in ConfigMap cm"), "there is no key k in ConfigMap cm"),
        ],
    )
    def test_what_a_pod_would_wait_for_is_found_missing_before_it_is_made(
        self, missing: Missing, message: str
    ) -> None:
        run = a_run(
            files=[{"name": "a", "inline": ""}, {"name": "b", "configMapKeyRef": {"name": "cm", "key": "k"}}]
        )
        plan = plan_run(see(run, texts={TextRef("cm", "k", mounted=True): missing}), NOW, SETTINGS)
        assert plan.actions == ()
        ready = status_of(plan)["conditions"][0]
        assert (ready["reason"], ready["message"]) == (
            "ConfigMapNotFound", f"spec.files[1].configMapKeyRef: {message}",
        )  # fmt: skip
        there = {TextRef("cm", "k", mounted=True): Found("")}
        assert [type(each) for each in plan_run(see(run, texts=there), NOW, SETTINGS).actions] == [CreatePod]

    def test_a_skill_without_its_config_map_is_waited_for(self) -> None:
        skills = [
            {"name": "off", "configMapRef": {"name": "none"}, "enabled": False},
            {"name": "pdf", "configMapRef": {"name": "pdf"}},
        ]
        ref = TextRef("pdf", "SKILL.md", mounted=True)
        world = see(a_run(), profile=Found(a_profile(skills=skills)), texts={ref: Missing("ConfigMap pdf")})
        ready = status_of(plan_run(world, NOW, SETTINGS))["conditions"][0]
        assert ready["message"] == (
            "AgentProfile coder: spec.skills[1].configMapRef: there is no ConfigMap pdf"
        )
        world = replace(world, texts={ref: Found("")})
        [create] = plan_run(world, NOW, SETTINGS).actions
        assert isinstance(create, CreatePod)
        document = json.loads(create.manifest["metadata"]["annotations"][Annotation.DOCUMENT])
        assert document["skills"] == [{"name": "off", "enabled": False}, {"name": "pdf", "enabled": True}]

    def test_nobody_knows_whether_it_is_there(self) -> None:
        run = a_run(files=[{"name": "b", "configMapKeyRef": {"name": "cm", "key": "k"}}])
        plan = plan_run(see(run, texts={TextRef("cm", "k", mounted=True): UNKNOWN}), NOW, SETTINGS)
        assert (plan.actions, plan.status) == ((), None)
        assert plan.wake_at is not None

    def test_a_found_config_map_brings_the_run_back_into_the_queue(self) -> None:
        source = {"configMapKeyRef": {"name": "cm", "key": "k"}}
        ref = TextRef("cm", "k")
        run = a_run(prompt=None, promptFrom=source)
        wanting = status_of(plan_run(see(run, texts={ref: Missing()}), NOW, SETTINGS))
        run = a_run(prompt=None, promptFrom=source, status=wanting)
        again = status_of(plan_run(see(run, texts={ref: Found("hi")}, admission=None), after(30), SETTINGS))
        assert conditions(again)["Ready"] == ("False", "WaitingForAdmission")
