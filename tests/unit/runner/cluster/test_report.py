from __future__ import annotations

from skerry_api.phases import OutcomeClass, StopReason
from skerry_api.report import Outcome, Progress, RunArtifact, SandboxRequest, Usage
from skerry_runner.cluster.environment import Identity
from skerry_runner.cluster.report import seed
from skerry_runner.cluster.view import view_of
from skerry_runner.ports import RunResult

US = Identity("ns", "r", 2, pod_uid="pod", node="n1")
LIVE = view_of({"status": {"sandboxId": "sbx-1", "runner": {"epoch": 1, "podUID": "old", "answer": "stale"}}})


def test_a_new_epoch_drops_the_old_report_and_keeps_the_sandbox() -> None:
    assert seed(LIVE, US).wire() == {
        "sandboxId": "sbx-1",
        "runner": {"epoch": 2, "podUID": "pod", "node": "n1"},
    }


def test_a_title_of_an_earlier_epoch_stays_until_there_is_another() -> None:
    runner = {"epoch": 1, "podUID": "old", "progress": {"toolCalls": 1, "title": "Beds"}}
    first = seed(view_of({"status": {"runner": runner}}), US)
    titles = [
        first.counted(Progress(title=title), Usage()).wire()["runner"]["progress"]["title"]
        for title in (None, "Rows")
    ]
    assert titles == ["Beds", "Rows"]


def test_what_earlier_epochs_called_has_been_called() -> None:
    def told(calls: int) -> int:
        runner = {"epoch": 1, "podUID": "old", "progress": {"turn": 2, "modelCalls": 2, "toolCalls": calls}}
        first = seed(view_of({"status": {"runner": runner}}), US)
        assert first.wire()["runner"]["progress"]["toolCalls"] == calls
        own = first.counted(Progress(turn=2), Usage()).wire()["runner"]["progress"]["toolCalls"]
        assert first.ended(DONE).wire()["runner"]["progress"]["toolCalls"] == own
        further = first.counted(Progress(turn=3, tool_calls=2), Usage())
        assert further.wire()["runner"]["progress"]["toolCalls"] == calls + 2
        return int(own)

    assert (told(0), told(1), told(5)) == (0, 1, 5)


def test_progress_that_cannot_be_read_is_none() -> None:
    live = view_of({"status": {"runner": {"epoch": 1, "podUID": "old", "progress": {"turn": "many"}}}})
    assert "progress" not in seed(live, US).wire()["runner"]


def test_a_run_without_sandbox_names_none() -> None:
    assert "sandboxId" not in seed(view_of({}), US).wire()


def test_every_write_is_the_whole_set() -> None:
    told = (
        seed(LIVE, US)
        .asking(SandboxRequest(epoch=2, public_key="k"))
        .counted(Progress(turn=1), Usage(input=2))
    )
    result = RunResult(
        outcome=Outcome(class_=OutcomeClass.SUCCEEDED), stop_reason=StopReason.END_TURN, answer="done",
        progress=Progress(turn=2), usage=Usage(input=3, output=1, total=4),
    )  # fmt: skip
    assert told.working_in("sbx-2").ended(result).wire() == {
        "sandboxId": "sbx-2",
        "runner": {
            "epoch": 2, "podUID": "pod", "node": "n1",
            "sandboxRequest": {"epoch": 2, "publicKey": "k"},
            "progress": {"turn": 2, "modelCalls": 0, "toolCalls": 0},
            "usage": {"input": 3, "output": 1, "total": 4, "subagents": 0, "internal": 0},
            "answer": "done",
            "outcome": {"class": "Succeeded", "reason": "", "message": ""},
            "stopReason": "EndTurn",
        },
    }  # fmt: skip


FILE = {"path": "/mnt/user-data/outputs/a", "size": 1, "mediaType": "text/plain", "available": True}
OTHER = FILE | {"path": "/mnt/user-data/outputs/b"}
DONE = RunResult(outcome=Outcome(class_=OutcomeClass.SUCCEEDED))


def test_what_was_presented_stands_there_before_the_end_and_whatever_ends_the_run() -> None:
    shown = (RunArtifact.model_validate(FILE),)
    told = seed(LIVE, US).counted(Progress(), Usage(), shown)
    assert told.wire()["runner"]["artifacts"] == [FILE]
    assert told.counted(Progress(turn=2), Usage()).ended(DONE).wire()["runner"]["artifacts"] == [FILE]
    both = (*shown, RunArtifact.model_validate(OTHER))
    assert told.counted(Progress(turn=2), Usage(), both).wire()["runner"]["artifacts"] == [FILE, OTHER]


def test_an_epoch_that_ends_before_its_state_was_read_keeps_what_stands_there() -> None:
    live = view_of({"status": {"runner": {"epoch": 1, "podUID": "old", "artifacts": [FILE, {"bad": 1}]}}})
    assert seed(live, US).ended(DONE).wire()["runner"]["artifacts"] == [FILE]
