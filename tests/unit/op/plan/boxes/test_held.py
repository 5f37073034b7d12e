"""Sandboxes that a live run asks for: made, kept, replaced."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_api.agentrun import AgentRun
from skerry_operator.plan.actions import (
    ApplyPolicy,
    CreatePod,
    CreateSandbox,
    DeletePod,
    DeleteSandbox,
    Refusal,
    RefusalKind,
)
from skerry_operator.plan.lookup import Broken, Found, Missing
from skerry_operator.plan.podview import NodeState
from skerry_operator.plan.sandbox import plan_sandbox
from skerry_operator.plan.types import Plan
from skerry_testing.planbox import (
    ASKED,
    HOLDER,
    PENDING,
    READY,
    asking,
    held,
    pod,
    see,
    status_of,
)
from skerry_testing.plans import NOW, NS, SETTINGS, a_class, a_sandbox, after, conditions, terminated

Json = dict[str, Any]


class TestAcquire:
    def test_one_is_made_for_a_run_that_asks(self) -> None:
        [create] = plan_sandbox(see(None, runs=(asking(),)), NOW, SETTINGS).actions
        assert isinstance(create, CreateSandbox)
        assert create.manifest["metadata"]["labels"]["skerry.dev/operator-made"] == "true"
        assert "ownerReferences" not in create.manifest["metadata"]

    @pytest.mark.parametrize(
        ("state", "made_of"), [("Ready", "former"), ("Replacing", "former"), ("Released", "default")]
    )
    def test_one_that_was_deleted_under_its_run_is_made_of_the_same_class_again(
        self, state: str, made_of: str
    ) -> None:
        use = {"name": "sbx", "state": state, "className": "former", "podUID": "pod-old"}
        [create] = plan_sandbox(
            see(None, runs=(asking(status=ASKED | {"sandbox": use}),)), NOW, SETTINGS
        ).actions
        assert isinstance(create, CreateSandbox)
        assert create.manifest["spec"]["classRef"] == {"name": made_of}

    def test_that_of_a_run_that_is_its_own_thread_is_owned_by_it(self) -> None:
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
    def test_a_run_that_is_over_or_has_not_asked_gets_none(self, run: AgentRun) -> None:
        assert plan_sandbox(see(None, runs=(run,)), NOW, SETTINGS) == Plan()

    def test_policy_then_pod_then_status(self) -> None:
        observed = see(a_sandbox(), runs=(asking(),))
        assert [type(each) for each in plan_sandbox(observed, NOW, SETTINGS).actions] == [
            ApplyPolicy,
            CreatePod,
        ]
        plan = plan_sandbox(held(a_sandbox()), NOW, SETTINGS)
        assert [type(each) for each in plan.actions] == [CreatePod]
        status = status_of(plan_sandbox(held(a_sandbox(), pod(conditions=[])), NOW, SETTINGS))
        assert (status["phase"], status["podUID"], status["holder"]) == ("Pending", "pod-sbx", HOLDER)

    def test_ready_means_the_ready_condition(self) -> None:
        status = status_of(plan_sandbox(held(a_sandbox(status=PENDING), pod()), NOW, SETTINGS))
        assert (status["phase"], status["endpoint"]) == ("Ready", "http://10.1.1.1:8090")
        assert plan_sandbox(held(a_sandbox(status=status), pod()), after(9), SETTINGS) == Plan()

    def test_who_holds_it_keeps_it(self) -> None:
        older = asking("older", created=after(-60))
        observed = held(a_sandbox(status=READY), pod(), runs=(older, asking()))
        status = status_of(plan_sandbox(observed, NOW, SETTINGS))
        assert status["holder"] == HOLDER

    def test_a_failing_probe_takes_nothing_away(self) -> None:
        status = status_of(plan_sandbox(held(a_sandbox(status=PENDING), pod()), NOW, SETTINGS))
        assert plan_sandbox(held(a_sandbox(status=status), pod(conditions=[])), after(9), SETTINGS) == Plan()

    @pytest.mark.parametrize(
        "missing", [{"classes": {"default": Missing()}}, {"refusal": Refusal(RefusalKind.FORBIDDEN, "quota")}]
    )
    def test_what_keeps_it_from_starting_fails_it_in_the_end(self, missing: Json) -> None:
        status = status_of(plan_sandbox(held(a_sandbox(), **missing), NOW, SETTINGS))
        assert status["phase"] == "Pending"
        late = status_of(plan_sandbox(held(a_sandbox(status=status), **missing), after(600), SETTINGS))
        assert late["phase"] == "Failed"
        assert conditions(late)["Stalled"][0] == "True"

    def test_a_pod_that_never_gets_ready_fails_in_its_own_words(self) -> None:
        waiting = pod(
            phase="Pending", conditions=[], state={"waiting": {"reason": "ErrImagePull", "message": "nope"}}
        )
        status = status_of(plan_sandbox(held(a_sandbox(status=PENDING), waiting), after(600), SETTINGS))
        assert conditions(status)["Ready"] == ("False", "ImagePull")
        assert "nope" in status["conditions"][0]["message"]

    def test_an_impossible_class_fails_with_its_field(self) -> None:
        kind = a_class(template={"env": [{"name": "SKERRY_POD_UID", "value": "x"}]})
        plan = plan_sandbox(held(a_sandbox(), classes={"default": Found(kind)}), NOW, SETTINGS)
        assert "spec.template.env[0].name" in status_of(plan)["conditions"][0]["message"]

    def test_a_former_sandboxs_pod_is_waited_out(self) -> None:
        plan = plan_sandbox(held(a_sandbox(), pod(owner="uid-former")), NOW, SETTINGS)
        assert plan.actions == (DeletePod(NS, "sbx", "pod-sbx"),)
        going = plan_sandbox(held(a_sandbox(), pod(owner="uid-former", deleted=after(5))), NOW, SETTINGS)
        assert (going.actions, going.status) == ((), None)

    def test_somebody_elses_pod_of_the_name_is_not_touched(self) -> None:
        for other in (pod(owner=""), pod(owner="uid-other", ours=False)):
            [create] = plan_sandbox(held(a_sandbox(), other), NOW, SETTINGS).actions
            assert isinstance(create, CreatePod)
            refused = held(a_sandbox(), other, refusal=Refusal(RefusalKind.NAME_TAKEN, "sbx exists"))
            assert conditions(status_of(plan_sandbox(refused, NOW, SETTINGS)))["Ready"] == (
                "False",
                "PodRemains",
            )

    def test_a_class_that_cannot_be_read_is_told(self) -> None:
        broken = held(a_sandbox(), classes={"default": Broken("SandboxClass default: spec.release: odd")})
        status = status_of(plan_sandbox(broken, NOW, SETTINGS))
        assert conditions(status)["Ready"] == ("False", "SandboxClassUnreadable")

    def test_a_changed_class_changes_its_policy(self) -> None:
        stale = {"default": Found("old")}
        plan = plan_sandbox(held(a_sandbox(status=READY), pod(), class_policies=stale), NOW, SETTINGS)
        assert [type(each) for each in plan.actions] == [ApplyPolicy]


class TestReplacement:
    def test_a_terminating_pod_is_waited_out_and_then_replaced(self) -> None:
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

    def test_a_failed_pod_is_cleared_away_after_the_status_says_so(self) -> None:
        dead = pod(phase="Failed", state=terminated(137, "OOMKilled"), conditions=[])
        said = status_of(plan_sandbox(held(a_sandbox(status=READY), dead), NOW, SETTINGS))
        assert "ran out of memory" in said["conditions"][0]["message"]
        plan = plan_sandbox(held(a_sandbox(status=said), dead), NOW, SETTINGS)
        assert plan.actions == (DeletePod(NS, "sbx", "pod-sbx"),)

    def test_a_lost_node_forces_it_away(self) -> None:
        dead = pod(node_state=NodeState.GONE)
        said = status_of(plan_sandbox(held(a_sandbox(status=READY), dead), NOW, SETTINGS))
        plan = plan_sandbox(held(a_sandbox(status=said), dead), NOW, SETTINGS)
        assert plan.actions == (DeletePod(NS, "sbx", "pod-sbx", 0),)

    def test_not_more_often_than_allowed(self) -> None:
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

    @pytest.mark.parametrize(("before", "phase", "replacements"), [(2, "Ready", 3), (0, "Ready", 1)])
    def test_a_new_object_goes_on_counting_where_the_run_says(
        self, before: int, phase: str, replacements: int
    ) -> None:
        use = {"name": "sbx", "state": "Ready", "podUID": "pod-old", "replacements": before}
        run = asking(status=ASKED | {"sandbox": use})
        status = status_of(plan_sandbox(held(a_sandbox(), pod(), runs=(run,)), NOW, SETTINGS))
        assert (status["phase"], status["replacements"]) == (phase, replacements)

    def test_a_deleted_object_is_not_a_way_around_the_limit(self) -> None:
        use = {"name": "sbx", "state": "Replacing", "podUID": "pod-old", "replacements": 3}
        run = asking(status=ASKED | {"sandbox": use})
        status = status_of(plan_sandbox(held(a_sandbox(), runs=(run,)), NOW, SETTINGS))
        assert conditions(status)["Stalled"] == ("True", "TooManyReplacements")

    def test_a_sandbox_that_was_given_back_is_not_counted(self) -> None:
        use = {"name": "sbx", "state": "Released", "podUID": "pod-old", "replacements": 3}
        run = asking(status=ASKED | {"sandbox": use})
        status = status_of(plan_sandbox(held(a_sandbox(), pod(), runs=(run,)), NOW, SETTINGS))
        assert "replacements" not in status

    def test_nothing_is_replaced_on_hearsay(self) -> None:
        assert plan_sandbox(held(a_sandbox(status=READY), live=False), NOW, SETTINGS) == Plan(needs_live=True)
