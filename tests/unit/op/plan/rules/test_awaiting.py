"""Questions: the phase, the deadline that stands still, what an answer starts, what is said of wrong ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from skerry_operator.plan.actions import CreatePod, DeletePod, RelayReport
from skerry_operator.plan.run import plan_run
from skerry_operator.plan.types import Plan
from skerry_testing.planrun import PROVISIONING, RUNNING, report, see, status_of
from skerry_testing.plans import NOW, NS, SETTINGS, a_pod, a_run, after, conditions, running, terminated

Json = dict[str, Any]
QUESTION: Json = {"id": "q-1", "type": "Suggestion", "text": "Red  or\nblue?"}
ASKED: Json = {"runner": report("AwaitingInput") | {"question": QUESTION}}
IN_PLACE: Json = {
    "runner": {"epoch": 1, "podUID": "pod-run-1", "question": QUESTION, "progress": {"toolCalls": 1}}
}
ENDED = a_pod(phase="Succeeded", state=terminated(0, "Completed"))
ALIVE = a_pod(state=running)
YES: Json = {"answers": [{"questionId": "q-1", "text": "blue"}]}
OTHER: Json = {"answers": [{"questionId": "q-0", "text": "old"}, {"questionId": "q-9", "text": "wrong"}]}


def awaiting(**spec: Any) -> Json:
    """The status of a run whose question was seen after ten seconds."""
    return status_of(plan_run(see(a_run(status=RUNNING | ASKED, **spec), ENDED), after(10), SETTINGS))


def words(status: Json) -> str:
    return next(str(each["message"]) for each in status["conditions"] if each["type"] == "Ready")


class TestParked:
    @pytest.mark.parametrize("before", [PROVISIONING, RUNNING])
    @pytest.mark.parametrize("pod", [ALIVE, ENDED, None])
    def test_a_question_is_a_phase_of_its_own(self, before: Json, pod: Any) -> None:
        plan = plan_run(see(a_run(status=before | ASKED), *([pod] if pod else [])), after(10), SETTINGS)
        status = status_of(plan)
        assert (status["phase"], status["pausedSince"]) == ("AwaitingInput", "2026-01-01T12:00:10Z")
        assert conditions(status) == {
            "Ready": ("True", "AwaitingInput"), "Reconciling": ("False", "AwaitingInput"),
            "Stalled": ("False", "AwaitingInput"), "Succeeded": ("Unknown", "AwaitingInput"),
        }  # fmt: skip
        assert words(status) == "question q-1: Red or blue?"
        assert not {"deadline", "completionTime", "failure", "pausedSeconds"} & status.keys()
        assert status["runningTime"]
        assert [event.reason for event in plan.events] == ["AwaitingInput"]

    def test_a_question_that_is_a_reference_is_named_by_its_id(self) -> None:
        question = {"id": "q-1", "type": "Suggestion", "textRef": {"size": 9, "event": "question"}}
        asked = {"runner": report("AwaitingInput") | {"question": question}}
        status = status_of(plan_run(see(a_run(status=RUNNING | asked), ENDED), after(10), SETTINGS))
        assert words(status) == "question q-1: its text stands in the journal alone"

    def test_no_deadline_ends_it_however_long_it_takes(self) -> None:
        run = a_run(status=awaiting() | ASKED)
        for seconds in (11, 3601, 10**7):
            plan = plan_run(see(run), after(seconds), SETTINGS)
            assert (plan.status, plan.actions, plan.wake_at) == (None, (), None)

    def test_its_pod_is_kept_for_the_logs_and_then_goes(self) -> None:
        run = a_run(status=awaiting() | ASKED)
        assert plan_run(see(run, ENDED), after(11), SETTINGS).wake_at == after(10 + 3600)
        late = plan_run(see(run, ENDED), after(10 + 3600), SETTINGS)
        assert late.actions == (DeletePod(NS, "run-1", "pod-run-1"),)
        assert plan_run(see(run, replace(ENDED, deletion_timestamp=NOW)), after(4000), SETTINGS) == Plan()

    def test_a_pod_that_does_not_end_after_its_report_is_ended(self) -> None:
        run = a_run(status=awaiting() | ASKED)
        assert plan_run(see(run, ALIVE), after(11), SETTINGS).wake_at == after(40)
        assert plan_run(see(run, ALIVE), after(40), SETTINGS).actions == (
            DeletePod(NS, "run-1", "pod-run-1"),
        )

    def test_an_answer_starts_the_next_epoch_step_by_step(self) -> None:
        run = a_run(status=awaiting() | ASKED, **YES)
        said = status_of(plan_run(see(run, ENDED), after(4000), SETTINGS))
        assert (said["phase"], conditions(said)["Reconciling"]) == ("Provisioning", ("True", "Answered"))
        assert (said["pausedSeconds"], said["epochTime"]) == (3990, "2026-01-01T13:06:40Z")
        assert said["deadline"] == "2026-01-01T13:16:40Z"
        assert "pausedSince" not in said
        run = a_run(status=said | ASKED, **YES)
        assert plan_run(see(run, ENDED), after(4000), SETTINGS).actions == (
            DeletePod(NS, "run-1", "pod-run-1"),
        )
        going = replace(ENDED, deletion_timestamp=after(4001))
        assert plan_run(see(run, going), after(4001), SETTINGS).actions == ()
        assert plan_run(see(run, live=False), after(4002), SETTINGS) == Plan(needs_live=True)
        [create] = plan_run(see(run), after(4002), SETTINGS).actions
        assert isinstance(create, CreatePod)
        assert create.manifest["metadata"]["name"] == "run-2"
        plan = plan_run(see(run, a_pod("run-2", epoch=2, phase="Pending")), after(4003), SETTINGS)
        again = status_of(plan)
        assert (again["phase"], again["epoch"], again["attempts"]) == ("Provisioning", 2, 1)
        assert [event.reason for event in plan.events] == ["Resumed"]
        run = a_run(status=again | ASKED, **YES)
        goes_on = status_of(plan_run(see(run, a_pod("run-2", epoch=2, state=running)), after(4005), SETTINGS))
        assert (goes_on["phase"], goes_on["runningTime"]) == ("Running", "2026-01-01T12:00:00Z")
        assert goes_on["deadline"] == "2026-01-01T14:06:30Z", "3600 s of work and 3990 s of waiting"

    def test_the_moved_deadline_is_the_one_that_ends_it(self) -> None:
        status = RUNNING | {"epoch": 2, "podName": "run-2", "podUID": "pod-run-2", "pausedSeconds": 3990}
        pod = a_pod("run-2", epoch=2, state=running)
        assert (
            status_of(plan_run(see(a_run(status=status), pod), after(7589), SETTINGS))["phase"] == "Running"
        )
        assert (
            status_of(plan_run(see(a_run(status=status), pod), after(7590), SETTINGS))["phase"] == "TimedOut"
        )

    def test_an_answer_that_was_there_before_starts_it_at_once(self) -> None:
        run = a_run(status=RUNNING | ASKED, **YES)
        status = status_of(plan_run(see(run, ENDED), after(10), SETTINGS))
        assert (status["phase"], conditions(status)["Ready"][1]) == ("Provisioning", "Answered")

    def test_an_answer_taken_back_before_the_epoch_began_is_none(self) -> None:
        said = status_of(plan_run(see(a_run(status=awaiting() | ASKED, **YES), ENDED), after(20), SETTINGS))
        again = status_of(plan_run(see(a_run(status=said | ASKED), ENDED), after(30), SETTINGS))
        assert (again["phase"], again["pausedSince"], again["pausedSeconds"]) == (
            "AwaitingInput", "2026-01-01T12:00:30Z", 10,
        )  # fmt: skip

    def test_an_old_pod_that_will_not_go_ends_the_run_in_time(self) -> None:
        said = status_of(plan_run(see(a_run(status=awaiting() | ASKED, **YES), ENDED), after(20), SETTINGS))
        going = replace(ENDED, deletion_timestamp=after(21))
        plan = plan_run(see(a_run(status=said | ASKED, **YES), going), after(620), SETTINGS)
        assert status_of(plan)["failure"]["class"] == "StartupTimeout"

    def test_answers_to_other_questions_are_ignored_and_that_is_said(self) -> None:
        run = a_run(status=awaiting() | ASKED, **OTHER)
        plan = plan_run(see(run, ENDED), after(20), SETTINGS)
        status = status_of(plan)
        assert status["phase"] == "AwaitingInput"
        assert words(status) == (
            "question q-1: Red or blue? (spec.answers holds answers to other questions only: q-0, q-9)"
        )
        assert [event.reason for event in plan.events] == ["AwaitingInput"]
        assert plan_run(see(a_run(status=status | ASKED, **OTHER), ENDED), after(21), SETTINGS).status is None

    @pytest.mark.parametrize("pod", [ENDED, None])
    def test_cancel_ends_it_at_once(self, pod: Any) -> None:
        run = a_run(status=awaiting() | ASKED, cancel=True)
        status = status_of(plan_run(see(run, *([pod] if pod else [])), after(20), SETTINGS))
        assert (status["phase"], words(status)) == ("Cancelled", "cancelled while it awaited an answer")
        assert status["pausedSeconds"] == 10

    def test_cancel_with_an_answer_beside_it_cancels(self) -> None:
        run = a_run(status=awaiting() | ASKED, cancel=True, **YES)
        assert status_of(plan_run(see(run), after(20), SETTINGS))["phase"] == "Cancelled"

    def test_a_run_being_deleted_begins_nothing(self) -> None:
        run = a_run(status=awaiting() | ASKED, meta={"deletionTimestamp": "2026-01-01T12:00:15Z"}, **YES)
        assert plan_run(see(run, ENDED), after(20), SETTINGS) == Plan()

    def test_a_question_by_the_termination_message_is_relayed(self) -> None:
        message = (
            '{"runUID": "uid-run", "epoch": 1, "outcome": {"class": "AwaitingInput"}, "progress": {"turn": 1},'
            ' "question": {"id": "q-1", "type": "Suggestion", "text": "Red or blue?"}}'
        )
        pod = a_pod(phase="Succeeded", state=terminated(0, "Completed", message))
        [relay] = plan_run(see(a_run(status=RUNNING), pod), after(10), SETTINGS).actions
        assert isinstance(relay, RelayReport)
        assert relay.status["runner"]["question"]["id"] == "q-1"
        status = status_of(plan_run(see(a_run(status=RUNNING | relay.status), pod), after(10), SETTINGS))
        assert status["phase"] == "AwaitingInput"

    def test_a_runner_that_awaits_and_asks_nothing_has_failed(self) -> None:
        run = a_run(status=RUNNING | {"runner": report("AwaitingInput")})
        status = status_of(plan_run(see(run, ENDED), after(10), SETTINGS))
        assert (status["phase"], status["failure"]["class"]) == ("Failed", "AppError")
        assert "asks nothing" in status["failure"]["message"]

    def test_the_word_of_another_pod_does_not_count(self) -> None:
        run = a_run(
            status=RUNNING | {"runner": report("AwaitingInput", uid="pod-x") | {"question": QUESTION}}
        )
        assert status_of(plan_run(see(run, ALIVE), after(10), SETTINGS))["phase"] == "Running"

    def test_retries_after_an_answer_are_counted_alone(self) -> None:
        status = RUNNING | {"epoch": 3, "attempts": 1, "podName": "run-3", "podUID": "pod-run-3"}
        run = a_run(retries=1, status=status)
        plan = plan_run(see(run, a_pod("run-4", epoch=4, phase="Pending")), after(5), SETTINGS)
        assert (status_of(plan)["epoch"], status_of(plan)["attempts"]) == (4, 2)


class TestInPlace:
    def test_the_pod_runs_on_and_the_phase_is_awaiting(self) -> None:
        plan = plan_run(see(a_run(status=RUNNING | IN_PLACE), ALIVE), after(10), SETTINGS)
        status = status_of(plan)
        assert (status["phase"], status["pausedSince"]) == ("AwaitingInput", "2026-01-01T12:00:10Z")
        run = a_run(status=status | IN_PLACE)
        assert plan_run(see(run, ALIVE), after(10**6), SETTINGS) == Plan()

    def test_with_the_answer_it_runs_and_so_does_the_deadline(self) -> None:
        status = status_of(plan_run(see(a_run(status=RUNNING | IN_PLACE), ALIVE), after(10), SETTINGS))
        run = a_run(status=status | IN_PLACE, **YES)
        plan = plan_run(see(run, ALIVE), after(5000), SETTINGS)
        said = status_of(plan)
        assert (said["phase"], said["pausedSeconds"], said["epoch"]) == ("Running", 4990, 1)
        assert said["deadline"] == "2026-01-01T14:23:10Z"
        assert [event.reason for event in plan.events] == ["Resumed"]
        late = a_run(status=said | IN_PLACE, **YES)
        assert status_of(plan_run(see(late, ALIVE), after(3600 + 4990), SETTINGS))["phase"] == "TimedOut"

    def test_a_lost_pod_is_lost_also_while_it_waits(self) -> None:
        status = status_of(plan_run(see(a_run(status=RUNNING | IN_PLACE), ALIVE), after(10), SETTINGS))
        ended = status_of(plan_run(see(a_run(status=status | IN_PLACE)), after(20), SETTINGS))
        assert (ended["phase"], ended["failure"]["class"]) == ("Failed", "PodLost")
        assert "a tool has run" in ended["failure"]["message"]

    def test_a_crash_is_a_failure_also_while_it_waits(self) -> None:
        run = a_run(status=RUNNING | IN_PLACE)
        plan = plan_run(see(run, a_pod(phase="Failed", state=terminated(1))), after(10), SETTINGS)
        assert status_of(plan)["failure"]["class"] == "AppError"

    def test_cancel_gives_the_runner_its_time(self) -> None:
        status = status_of(plan_run(see(a_run(status=RUNNING | IN_PLACE), ALIVE), after(10), SETTINGS))
        run = a_run(status=status | IN_PLACE, cancel=True)
        said = status_of(plan_run(see(run, ALIVE), after(20), SETTINGS))
        assert (said["phase"], conditions(said)["Reconciling"]) == ("Running", ("True", "Cancelling"))
        assert plan_run(see(a_run(status=said | IN_PLACE, cancel=True), ALIVE), after(50), SETTINGS).actions

    def test_a_report_is_the_last_word(self) -> None:
        run = a_run(status=RUNNING | {"runner": IN_PLACE["runner"] | {"outcome": {"class": "Succeeded"}}})
        assert status_of(plan_run(see(run, ALIVE), after(10), SETTINGS))["phase"] == "Succeeded"
