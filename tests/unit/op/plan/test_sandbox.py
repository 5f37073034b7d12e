"""plan_sandbox: Sandboxes of threads and standalone ones, stage by stage."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_api.agentrun import AgentRun
from skerry_api.sandbox import Sandbox
from skerry_operator.plan.actions import (
    ApplyPolicy,
    CreatePod,
    CreateSandbox,
    DeletePod,
    DeleteSandbox,
    ProbeIdle,
    Refusal,
    RefusalKind,
)
from skerry_operator.plan.lookup import Found, Missing
from skerry_operator.plan.podview import NodeState, PodView
from skerry_operator.plan.sandbox import plan_sandbox
from skerry_operator.plan.types import IdleAnswer, ObservedSandbox, Plan
from skerry_testing.plans import (
    NOW,
    NS,
    SETTINGS,
    a_class,
    a_pod,
    a_profile,
    a_run,
    a_sandbox,
    after,
    conditions,
    running,
    terminated,
)

Json = dict[str, Any]
READY_CONDITION: list[Json] = [{"type": "Ready", "status": "True"}]
ASKED: Json = {
    "phase": "Running", "epoch": 1, "podUID": "pod-run-1",
    "runner": {"epoch": 1, "podUID": "pod-run-1", "sandboxRequest": {"epoch": 1, "publicKey": "x"}},
}  # fmt: skip
HOLDER: Json = {"uid": "uid-run", "name": "run", "since": "2026-01-01T12:00:00Z"}
PENDING: Json = {
    "observedGeneration": 1,
    "phase": "Pending",
    "podName": "sbx",
    "podUID": "pod-sbx",
    "holder": HOLDER,
}
READY: Json = PENDING | {"phase": "Ready", "endpoint": "http://10.1.1.1:8090"}
PARKED: Json = {
    "phase": "Parked", "podName": "sbx", "podUID": "pod-sbx", "endpoint": "http://10.1.1.1:8090", "idleSince": "2026-01-01T12:00:00Z",
}  # fmt: skip


def asking(name: str = "run", **spec: Any) -> AgentRun:
    return a_run(name, **{"threadId": "t", "status": ASKED, **spec})


def see(
    sandbox: Sandbox | None, *pods: PodView, runs: tuple[AgentRun, ...] = (), **more: Any
) -> ObservedSandbox:
    basis: Json = {
        "classes": {"default": Found(a_class())}, "class_policies": {"default": Missing()},
        "profiles": {"coder": Found(a_profile())}, "live": True,
    }  # fmt: skip
    return ObservedSandbox(NS, "sbx", sandbox, runs, pods, **(basis | more))


def settled(observed: ObservedSandbox) -> dict[str, Found[str]]:
    """The class's policy as the operator applies it."""
    plan = plan_sandbox(observed, NOW, SETTINGS)
    policy = next(each for each in plan.actions if isinstance(each, ApplyPolicy))
    return {"default": Found(policy.manifest["metadata"]["annotations"]["skerry.dev/template-hash"])}


POLICY = settled(see(a_sandbox(), runs=(asking(),)))


def pod(**more: Any) -> PodView:
    return a_pod("sbx", **{"owner": "uid-sbx", "state": running, "conditions": READY_CONDITION, **more})


def held(sandbox: Sandbox, *pods: PodView, **more: Any) -> ObservedSandbox:
    return see(sandbox, *pods, **{"runs": (asking(),), "class_policies": POLICY, **more})


def status_of(plan: Plan) -> Json:
    assert plan.actions == ()
    assert plan.status is not None
    return plan.status


class TestAcquire:
    def test_one_is_made_for_a_run_that_asks(self):
        [create] = plan_sandbox(see(None, runs=(asking(),)), NOW, SETTINGS).actions
        assert isinstance(create, CreateSandbox)
        assert create.manifest["metadata"]["labels"]["skerry.dev/operator-made"] == "true"
        assert "ownerReferences" not in create.manifest["metadata"]

    def test_that_of_a_run_that_is_its_own_thread_is_owned_by_it(self):
        [create] = plan_sandbox(see(None, runs=(asking(threadId=None),)), NOW, SETTINGS).actions
        assert isinstance(create, CreateSandbox)
        assert [owner["uid"] for owner in create.manifest["metadata"]["ownerReferences"]] == ["uid-run"]
        assert create.manifest["spec"]["threadId"] == "uid-run"

    @pytest.mark.parametrize(
        "run",
        [
            asking(status={}),
            asking(status=ASKED | {"phase": "Succeeded"}),
            asking(meta={"deletionTimestamp": "2026-01-01T12:00:00Z"}),
            asking(status=ASKED | {"epoch": 2}),
            asking(status=ASKED | {"podUID": "pod-other"}),
        ],
    )
    def test_a_run_that_is_over_or_has_not_asked_gets_none(self, run: AgentRun):
        assert plan_sandbox(see(None, runs=(run,)), NOW, SETTINGS) == Plan()

    def test_policy_then_pod_then_status(self):
        observed = see(a_sandbox(), runs=(asking(),))
        assert [type(each) for each in plan_sandbox(observed, NOW, SETTINGS).actions] == [
            ApplyPolicy,
            CreatePod,
        ]
        plan = plan_sandbox(held(a_sandbox()), NOW, SETTINGS)
        assert [type(each) for each in plan.actions] == [CreatePod]
        status = status_of(plan_sandbox(held(a_sandbox(), pod(conditions=[])), NOW, SETTINGS))
        assert (status["phase"], status["podUID"], status["holder"]) == ("Pending", "pod-sbx", HOLDER)

    def test_ready_means_the_ready_condition(self):
        status = status_of(plan_sandbox(held(a_sandbox(status=PENDING), pod()), NOW, SETTINGS))
        assert (status["phase"], status["endpoint"]) == ("Ready", "http://10.1.1.1:8090")
        assert plan_sandbox(held(a_sandbox(status=status), pod()), after(9), SETTINGS) == Plan()

    def test_a_failing_probe_takes_nothing_away(self):
        status = status_of(plan_sandbox(held(a_sandbox(status=PENDING), pod()), NOW, SETTINGS))
        assert plan_sandbox(held(a_sandbox(status=status), pod(conditions=[])), after(9), SETTINGS) == Plan()

    @pytest.mark.parametrize(
        "missing", [{"classes": {"default": Missing()}}, {"refusal": Refusal(RefusalKind.FORBIDDEN, "quota")}]
    )
    def test_what_keeps_it_from_starting_fails_it_in_the_end(self, missing: Json):
        status = status_of(plan_sandbox(held(a_sandbox(), **missing), NOW, SETTINGS))
        assert status["phase"] == "Pending"
        late = status_of(plan_sandbox(held(a_sandbox(status=status), **missing), after(600), SETTINGS))
        assert late["phase"] == "Failed"
        assert conditions(late)["Stalled"][0] == "True"

    def test_a_pod_that_never_gets_ready_fails_in_its_own_words(self):
        waiting = pod(
            phase="Pending", conditions=[], state={"waiting": {"reason": "ErrImagePull", "message": "nope"}}
        )
        status = status_of(plan_sandbox(held(a_sandbox(status=PENDING), waiting), after(600), SETTINGS))
        assert conditions(status)["Ready"] == ("False", "ImagePull")
        assert "nope" in status["conditions"][0]["message"]

    def test_an_impossible_class_fails_with_its_field(self):
        kind = a_class(template={"env": [{"name": "SKERRY_POD_UID", "value": "x"}]})
        plan = plan_sandbox(held(a_sandbox(), classes={"default": Found(kind)}), NOW, SETTINGS)
        assert "spec.template.env[0].name" in status_of(plan)["conditions"][0]["message"]

    def test_a_former_sandboxs_pod_is_waited_out(self):
        plan = plan_sandbox(held(a_sandbox(), pod(owner="uid-former")), NOW, SETTINGS)
        assert plan.actions == (DeletePod(NS, "sbx", "pod-sbx"),)
        going = plan_sandbox(held(a_sandbox(), pod(owner="uid-former", deleted=after(5))), NOW, SETTINGS)
        assert (going.actions, going.status) == ((), None)

    def test_a_changed_class_changes_its_policy(self):
        stale = {"default": Found("old")}
        plan = plan_sandbox(held(a_sandbox(status=READY), pod(), class_policies=stale), NOW, SETTINGS)
        assert [type(each) for each in plan.actions] == [ApplyPolicy]


class TestReplacement:
    def test_a_terminating_pod_is_waited_out_and_then_replaced(self):
        going = pod(deleted=after(5))
        said = status_of(plan_sandbox(held(a_sandbox(status=READY), going), NOW, SETTINGS))
        assert (said["phase"], said["podUID"], said["holder"]) == ("Pending", "pod-sbx", HOLDER)
        assert "endpoint" not in said
        [create] = plan_sandbox(held(a_sandbox(status=said)), after(6), SETTINGS).actions
        assert isinstance(create, CreatePod)
        new = pod(uid="pod-2")
        plan = plan_sandbox(held(a_sandbox(status=said), new), after(7), SETTINGS)
        ready = status_of(plan)
        assert (ready["phase"], ready["podUID"], ready["replacements"]) == ("Ready", "pod-2", 1)
        assert [event.reason for event in plan.events] == ["SandboxReplaced"]
        assert plan_sandbox(held(a_sandbox(status=ready), new), after(8), SETTINGS) == Plan()

    def test_a_failed_pod_is_cleared_away_after_the_status_says_so(self):
        dead = pod(phase="Failed", state=terminated(137, "OOMKilled"), conditions=[])
        said = status_of(plan_sandbox(held(a_sandbox(status=READY), dead), NOW, SETTINGS))
        assert "ran out of memory" in said["conditions"][0]["message"]
        plan = plan_sandbox(held(a_sandbox(status=said), dead), NOW, SETTINGS)
        assert plan.actions == (DeletePod(NS, "sbx", "pod-sbx"),)

    def test_a_lost_node_forces_it_away(self):
        dead = pod(node_state=NodeState.GONE)
        said = status_of(plan_sandbox(held(a_sandbox(status=READY), dead), NOW, SETTINGS))
        plan = plan_sandbox(held(a_sandbox(status=said), dead), NOW, SETTINGS)
        assert plan.actions == (DeletePod(NS, "sbx", "pod-sbx", 0),)

    def test_not_more_often_than_allowed(self):
        sandbox = a_sandbox(status=PENDING | {"replacements": 3})
        plan = plan_sandbox(held(sandbox), NOW, SETTINGS)
        status = status_of(plan)
        assert status["phase"] == "Failed"
        assert conditions(status)["Stalled"] == ("True", "TooManyReplacements")
        failed = a_sandbox(status=status)
        assert plan_sandbox(held(failed), NOW, SETTINGS) == Plan()
        ended = asking(status=ASKED | {"phase": "Failed"})
        assert plan_sandbox(held(failed, runs=(ended,)), NOW, SETTINGS).actions == (
            DeleteSandbox(NS, "sbx", "uid-sbx"),
        )

    def test_nothing_is_replaced_on_hearsay(self):
        assert plan_sandbox(held(a_sandbox(status=READY), live=False), NOW, SETTINGS) == Plan(needs_live=True)


OVER = asking(status=ASKED | {"phase": "Succeeded"})


class TestRelease:
    def test_park_stamps_once(self):
        plan = plan_sandbox(held(a_sandbox(status=READY), pod(), runs=(OVER,)), after(7), SETTINGS)
        status = status_of(plan)
        assert (status["phase"], status["idleSince"]) == ("Parked", "2026-01-01T12:00:07Z")
        assert "holder" not in status
        assert conditions(status)["Ready"] == ("True", "Parked")
        later = plan_sandbox(held(a_sandbox(status=status), pod(), runs=(OVER,)), after(60), SETTINGS)
        assert later == Plan(wake_at=after(607))

    @pytest.mark.parametrize(
        ("kind", "sandbox"),
        [
            (a_class(release="Destroy"), a_sandbox(status=READY)),
            (a_class(), a_sandbox(status=READY, threadId="uid-run")),
            (a_class(), a_sandbox(threadId="uid-run", meta={"ownerReferences": [{"apiVersion": "v", "kind": "AgentRun", "name": "run", "uid": "uid-run"}]})),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("runs", [(), (OVER,)])
    def test_destroy_deletes(self, kind: Any, sandbox: Sandbox, runs: tuple[AgentRun, ...]):
        plan = plan_sandbox(held(sandbox, pod(), runs=runs, classes={"default": Found(kind)}), NOW, SETTINGS)
        assert plan.actions == (DeleteSandbox(NS, "sbx", "uid-sbx"),)

    def test_destroy_leaves_nothing_to_the_next_run(self):
        kind = {"default": Found(a_class(release="Destroy"))}
        observed = held(a_sandbox(status=READY), pod(), runs=(OVER, asking("next")), classes=kind)
        assert plan_sandbox(observed, NOW, SETTINGS).actions == (DeleteSandbox(NS, "sbx", "uid-sbx"),)

    def test_a_retry_keeps_the_sandbox(self):
        status = {
            "phase": "Provisioning",
            "epoch": 2,
            "podUID": "pod-run-2",
            "sandbox": {"name": "sbx", "state": "Ready"},
        }
        observed = held(a_sandbox(status=READY), pod(), runs=(asking(status=status),))
        said = status_of(plan_sandbox(observed, NOW, SETTINGS))
        assert (said["phase"], said["holder"]["uid"]) == ("Ready", "uid-run")

    def test_the_next_run_of_the_thread_takes_a_parked_one(self):
        observed = held(a_sandbox(status=PARKED), pod(), runs=(OVER, asking("next")))
        status = status_of(plan_sandbox(observed, after(100), SETTINGS))
        assert (status["phase"], status["holder"]["name"]) == ("Ready", "next")
        assert "idleSince" not in status

    def test_a_run_of_another_class_does_not_keep_it_alive(self):
        other = asking("next", sandbox={"classRef": {"name": "gpu"}})
        plan = plan_sandbox(held(a_sandbox(status=PARKED), pod(), runs=(other,)), after(600), SETTINGS)
        assert [type(each) for each in plan.actions] == [ProbeIdle]

    @pytest.mark.parametrize("pods", [(), (pod(conditions=[]),)])
    def test_one_that_was_never_of_use_is_dropped(self, pods: tuple[PodView, ...]):
        observed = held(a_sandbox(status=PENDING), *pods, runs=(OVER,))
        status = status_of(plan_sandbox(observed, NOW, SETTINGS))
        assert status["phase"] == "Terminating"
        plan = plan_sandbox(held(a_sandbox(status=status), *pods, runs=(asking("next"),)), NOW, SETTINGS)
        assert plan.actions == (DeleteSandbox(NS, "sbx", "uid-sbx"),)

    def test_a_parked_one_without_its_pod_holds_nothing(self):
        status = status_of(plan_sandbox(held(a_sandbox(status=PARKED), runs=()), NOW, SETTINGS))
        assert (status["phase"], conditions(status)["Ready"]) == ("Terminating", ("False", "PodGone"))

    def test_its_pod_is_the_collectors_first(self):
        observed = see(None, pod(), gone_at=NOW)
        assert plan_sandbox(observed, after(14), SETTINGS) == Plan(wake_at=after(15))
        assert plan_sandbox(observed, after(15), SETTINGS).actions == (DeletePod(NS, "sbx", "pod-sbx"),)
        wanted = see(None, pod(), gone_at=NOW, runs=(asking(),))
        assert plan_sandbox(wanted, NOW, SETTINGS).actions == (DeletePod(NS, "sbx", "pod-sbx"),)


class TestIdle:
    def parked(
        self,
        seconds: float,
        *pods: PodView,
        idle: float | None = None,
        asked_at: float | None = None,
        **spec: Any,
    ) -> Plan:
        probe = IdleAnswer("pod-sbx", after(asked_at), idle) if asked_at is not None else None
        observed = held(a_sandbox(status=PARKED, **spec), *(pods or (pod(),)), runs=(), probe=probe)
        return plan_sandbox(observed, after(seconds), SETTINGS)

    def test_asked_once_at_expiry(self):
        assert self.parked(599).wake_at == after(600)
        assert self.parked(600).actions == (ProbeIdle(NS, "sbx", "pod-sbx", "http://10.1.1.1:8090"),)

    def test_unused_ends(self):
        status = status_of(self.parked(600, asked_at=600, idle=600))
        assert (status["phase"], conditions(status)["Ready"][1]) == ("Terminating", "IdleExpired")

    def test_used_since_is_extended_from_then(self):
        status = status_of(self.parked(600, asked_at=600, idle=100))
        assert (status["phase"], status["idleSince"]) == ("Parked", "2026-01-01T12:08:20Z")

    def test_an_answer_of_before_the_expiry_does_not_count(self):
        assert [type(each) for each in self.parked(600, asked_at=599, idle=100).actions] == [ProbeIdle]

    def test_silence_is_not_death_and_not_for_ever(self):
        assert self.parked(610, asked_at=600).wake_at == after(620)
        assert [type(each) for each in self.parked(620, asked_at=600).actions] == [ProbeIdle]
        assert status_of(self.parked(720, asked_at=710))["phase"] == "Terminating"

    def test_one_that_can_not_be_asked_is_kept_as_long(self):
        unready = pod(conditions=[])
        assert self.parked(600, unready).wake_at == after(720)
        assert status_of(self.parked(720, unready))["phase"] == "Terminating"

    def test_a_liar_dies_of_old_age(self):
        status = status_of(self.parked(1000, asked_at=999, idle=-1e6, maxLifetimeSeconds=1000))
        assert conditions(status)["Ready"][1] == "LifetimeExceeded"
        holding = held(a_sandbox(status=READY, maxLifetimeSeconds=60), pod())
        assert status_of(plan_sandbox(holding, after(1000), SETTINGS))["phase"] == "Ready"


class TestStandalone:
    def see(self, status: Json, *pods: PodView, **more: Any) -> ObservedSandbox:
        return held(a_sandbox(made=False, status=status), *pods, **more)

    def test_it_gets_a_pod_and_no_run_gets_it(self):
        assert [type(each) for each in plan_sandbox(self.see({}), NOW, SETTINGS).actions] == [CreatePod]
        status = status_of(plan_sandbox(self.see({}, pod()), NOW, SETTINGS))
        assert (status["phase"], status["idleSince"]) == ("Ready", "2026-01-01T12:00:00Z")
        assert "holder" not in status

    def test_a_lost_pod_is_not_replaced(self):
        status = status_of(plan_sandbox(self.see(READY), NOW, SETTINGS))
        assert (status["phase"], list(conditions(status))) == ("Released", ["Stalled"])
        assert plan_sandbox(self.see(status), NOW, SETTINGS) == Plan()

    def test_it_ends_released_and_the_object_stays(self):
        status = status_of(plan_sandbox(self.see({}, pod()), NOW, SETTINGS))
        assert [
            type(each) for each in plan_sandbox(self.see(status, pod()), after(600), SETTINGS).actions
        ] == [ProbeIdle]
        probe = IdleAnswer("pod-sbx", after(600), 600)
        ended = status_of(plan_sandbox(self.see(status, pod(), probe=probe), after(600), SETTINGS))
        assert ended["phase"] == "Released"
        plan = plan_sandbox(self.see(ended, pod()), after(601), SETTINGS)
        assert plan.actions == (DeletePod(NS, "sbx", "pod-sbx"),)

    def test_one_in_an_unprepared_namespace_stalls(self):
        status = status_of(plan_sandbox(self.see({}, prepared=False), NOW, SETTINGS))
        assert conditions(status)["Stalled"] == ("True", "NamespaceNotPrepared")
