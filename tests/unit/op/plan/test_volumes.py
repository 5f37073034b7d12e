"""Volumes of threads: made once, taken up by each run, kept for their retention, and never taken from a run."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from skerry_api.agentrun import AgentRun
from skerry_api.base import format_time
from skerry_api.persistence import StateVolume
from skerry_operator.build.state_volume import build_state_volume
from skerry_operator.plan.actions import Action, ApplyVolume, CreatePod, DeleteVolume
from skerry_operator.plan.lookup import UNKNOWN, Found, Missing
from skerry_operator.plan.run import plan_run
from skerry_operator.plan.types import ObservedVolumes, Plan
from skerry_operator.plan.volumes import NotYet, plan_volumes, taken_up
from skerry_operator.plan.volumeview import VolumeView, view_volume
from skerry_testing.planrun import RUNNING, see, status_of
from skerry_testing.plans import NOW, NS, SETTINGS, a_profile, a_run, after, conditions

Json = dict[str, Any]
WANTED = StateVolume(retention_seconds=100)
RUN = a_run(threadId="t")
NOTES = "skerry.dev/"
ASKED = {"id": "q-1", "type": "MissingInfo", "text": "Which?"}


def volume(*, unused: datetime | None = None, deleted: bool = False, **notes: str) -> VolumeView:
    made = build_state_volume(RUN, WANTED)
    made["metadata"] |= {"uid": "uid-v", "resourceVersion": "7"}
    made["metadata"]["annotations"] |= {NOTES + key: text for key, text in notes.items()}
    if unused is not None:
        made["metadata"]["annotations"][NOTES + "unused-since"] = format_time(unused)
    if deleted:
        made["metadata"]["deletionTimestamp"] = format_time(NOW)
    return view_volume(made)


def ended(at: datetime) -> AgentRun:
    return a_run(threadId="t", status={"phase": "Succeeded", "completionTime": format_time(at)})


def notes_of(action: Action | None) -> Json:
    """The annotations that are applied, and that the volume is named as it was seen and left as it is."""
    assert isinstance(action, ApplyVolume)
    meta = action.manifest["metadata"]
    assert (meta["uid"], meta["resourceVersion"]) == ("uid-v", "7")
    assert action.manifest["spec"] == build_state_volume(RUN, WANTED)["spec"]
    assert meta["labels"] == build_state_volume(RUN, WANTED)["metadata"]["labels"]
    return {key.removeprefix(NOTES): text for key, text in meta["annotations"].items()}


KEPT = {"retention-seconds": "100"}


class TestTakingUp:
    def test_the_first_run_of_a_thread_makes_it(self) -> None:
        assert taken_up(RUN, WANTED, Missing()) == (ApplyVolume(build_state_volume(RUN, WANTED)),)

    def test_one_in_use_needs_nothing(self) -> None:
        assert taken_up(RUN, WANTED, Found(volume())) == ()

    def test_the_stamp_of_an_unused_one_is_taken_away(self) -> None:
        (action,) = taken_up(RUN, WANTED, Found(volume(unused=NOW)))
        assert notes_of(action) == KEPT

    def test_another_retention_is_noted(self) -> None:
        (action,) = taken_up(RUN, replace_retention(WANTED, 5), Found(volume()))
        assert notes_of(action) == {"retention-seconds": "5"}

    @pytest.mark.parametrize(
        ("found", "why"),
        [
            (volume(deleted=True), "which is being deleted"),
            (volume(unused=NOW, expired="true"), "past its retention"),
            (volume(unused=NOW, deleted=True, expired="true"), "past its retention"),
        ],
    )
    def test_one_that_goes_is_waited_out(self, found: VolumeView, why: str) -> None:
        with pytest.raises(NotYet, match=why):
            taken_up(RUN, WANTED, Found(found))

    def test_somebody_elses_is_not_touched(self) -> None:
        with pytest.raises(NotYet, match="not Skerry's"):
            taken_up(RUN, WANTED, Found(replace(volume(), ours=False)))

    def test_unknown_is_not_missing(self) -> None:
        with pytest.raises(NotYet, match=r"^$"):
            taken_up(RUN, WANTED, UNKNOWN)


def replace_retention(wanted: StateVolume, seconds: int) -> StateVolume:
    return wanted.model_copy(update={"retention_seconds": seconds})


class TestStart:
    PROFILE = Found(a_profile(persistence={"type": "Volume", "volume": {"retentionSeconds": 100}}))

    def test_the_volume_comes_before_the_pod_that_mounts_it(self) -> None:
        plan = plan_run(see(RUN, profile=self.PROFILE, volume=Missing()), NOW, SETTINGS)
        made, pod = plan.actions
        assert isinstance(made, ApplyVolume)
        assert isinstance(pod, CreatePod)
        claims = [each["persistentVolumeClaim"]["claimName"] for each in pod.manifest["spec"]["volumes"] if "persistentVolumeClaim" in each]  # fmt: skip
        assert claims == [made.manifest["metadata"]["name"]]

    def test_a_volume_that_goes_is_the_reason_to_wait(self) -> None:
        seen = see(RUN, profile=self.PROFILE, volume=Found(volume(deleted=True)))
        status = status_of(plan_run(seen, NOW, SETTINGS))
        ready = next(each for each in status["conditions"] if each["type"] == "Ready")
        assert conditions(status)["Ready"][0] == "False"
        assert "PersistentVolumeClaim state-" in ready["message"]

    @pytest.mark.parametrize(
        ("told", "ends"),
        [
            ({}, False),
            ({"progress": {"turn": 1, "modelCalls": 1, "toolCalls": 0}}, False),  # nothing would run twice
            ({"progress": {"turn": 1, "modelCalls": 1, "toolCalls": 1}}, True),
            (
                {"outcome": {"class": "AwaitingInput"}, "question": ASKED},
                True,
            ),  # and its answer would be lost
        ],
    )
    def test_a_run_that_has_acted_ends_with_its_volume(self, told: Json, ends: bool) -> None:
        status = RUNNING | {
            "profile": {"uid": "uid-coder", "generation": 1},
            "runner": {"epoch": 1, "podUID": "pod-run-1"} | told,
        }
        answers = [{"questionId": "q-1", "text": "yes"}]
        seen = see(
            a_run(threadId="t", status=status, answers=answers), profile=self.PROFILE, volume=Missing()
        )
        plan = plan_run(seen, NOW, SETTINGS)
        if not ends:
            assert [type(action) for action in plan.actions] == [ApplyVolume, CreatePod]
            return
        failure = status_of(plan)["failure"]
        assert (status_of(plan)["phase"], failure["class"]) == ("Failed", "AppError")
        assert failure["message"].startswith("StateGone: PersistentVolumeClaim state-")

    def test_without_an_answer_nothing_is_made(self) -> None:
        plan = plan_run(see(RUN, profile=self.PROFILE, volume=UNKNOWN), NOW, SETTINGS)
        assert (plan.actions, plan.status, plan.wake_at) == ((), None, after(5))

    def test_other_kinds_of_persistence_ask_for_none(self) -> None:
        (pod,) = plan_run(see(RUN), NOW, SETTINGS).actions
        assert isinstance(pod, CreatePod)


def swept(found: VolumeView, *runs: AgentRun, now: datetime = NOW) -> Plan:
    return plan_volumes(ObservedVolumes(NS, (found,), {found.name: runs}), now)


class TestSweep:
    def test_a_run_that_is_not_over_keeps_it_for_ever(self) -> None:
        assert swept(volume(), a_run(threadId="t", status=RUNNING), now=after(1e9)) == Plan()
        assert swept(volume(), a_run(threadId="t"), ended(NOW), now=after(1e9)) == Plan()

    def test_a_late_stamp_goes_while_a_run_lives(self) -> None:
        plan = swept(volume(unused=NOW), a_run(threadId="t"), now=after(1e9))
        assert [notes_of(action) for action in plan.actions] == [KEPT]

    @pytest.mark.parametrize(
        ("runs", "since"), [((), after(50)), ((ended(NOW),), NOW), ((ended(NOW), ended(after(7))), after(7))]
    )
    def test_it_is_stamped_with_the_end_of_its_last_run(
        self, runs: tuple[AgentRun, ...], since: datetime
    ) -> None:
        plan = swept(volume(), *runs, now=after(50))
        assert [notes_of(action) for action in plan.actions] == [KEPT | {"unused-since": format_time(since)}]

    def test_a_run_between_two_sweeps_moves_the_stamp(self) -> None:
        plan = swept(volume(unused=NOW), ended(after(60)), now=after(200))
        assert [notes_of(action) for action in plan.actions] == [
            KEPT | {"unused-since": format_time(after(60))}
        ]

    def test_it_is_kept_for_its_retention(self) -> None:
        assert swept(volume(unused=NOW), now=after(99)) == Plan(wake_at=after(100))

    def test_then_it_is_marked_first_and_deleted_next(self) -> None:
        stamp = {"unused-since": format_time(NOW)}
        plan = swept(volume(unused=NOW), now=after(100))
        assert [notes_of(action) for action in plan.actions] == [KEPT | stamp | {"expired": "true"}]
        marked = volume(unused=NOW, expired="true")
        assert swept(marked, now=after(100)).actions == (DeleteVolume(NS, marked.name, "uid-v"),)
        # The mark was set before this run looked: it waits for another volume.
        assert swept(marked, a_run(threadId="t"), now=after(100)).actions == (
            DeleteVolume(NS, marked.name, "uid-v"),
        )

    @pytest.mark.parametrize(
        "found", [volume(unused=NOW, deleted=True), replace(volume(unused=NOW), ours=False)]
    )
    def test_what_goes_already_or_is_not_ours_is_left_alone(self, found: VolumeView) -> None:
        assert swept(found, now=after(1e9)) == Plan()

    @pytest.mark.parametrize("text", ["", "soon", "2026-01-01", "2026-01-01T12:00:00"])
    def test_a_stamp_that_somebody_spoilt_is_made_anew(self, text: str) -> None:
        made = build_state_volume(RUN, WANTED)
        made["metadata"] |= {"uid": "uid-v", "resourceVersion": "7"}
        made["metadata"]["annotations"][NOTES + "unused-since"] = text
        plan = swept(view_volume(made), now=after(50))
        assert [notes_of(action)["unused-since"] for action in plan.actions] == [format_time(after(50))]

    def test_the_next_one_due_wakes_it(self) -> None:
        two = (replace(volume(unused=after(5)), name="b"), volume(unused=NOW))
        assert plan_volumes(ObservedVolumes(NS, two), NOW).wake_at == after(100)
