"""What a watcher is told of an AgentRun's status."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_api.phases import RunPhase
from skerry_cli.story import is_over, pod_to_read, told

Json = dict[str, Any]


def _run(**status: Any) -> Json:
    return {"metadata": {"name": "hello"}, "status": status}


def _ready(message: str) -> list[Json]:
    return [{"type": "Ready", "status": "True", "message": message}]


@pytest.mark.parametrize(
    ("before", "now", "lines"),
    [
        (None, {"metadata": {"name": "hello"}}, []),
        (None, _run(phase="Provisioning", epoch=1), ["Provisioning"]),
        (
            _run(phase="Provisioning"),
            _run(phase="Running", conditions=_ready("Pod a runs")),
            ["Running: Pod a runs"],
        ),
        (_run(phase="Running", epoch=1), _run(phase="Running", epoch=1), []),
        (_run(phase="Running", epoch=1), _run(phase="Running", epoch=2), ["Running: epoch 2"]),
        (
            _run(phase="Running"),
            _run(phase="Running", runner={"sandboxRequest": {"epoch": 1}}),
            ["the agent needs a sandbox: the runner asks for one"],
        ),
        (
            _run(phase="Running", sandbox={"name": "s", "state": "Pending"}),
            _run(phase="Running", sandbox={"name": "s", "state": "Ready", "replacements": 2}),
            ["sandbox s: Ready, replaced 2×"],
        ),
        (
            _run(phase="Running"),
            _run(phase="Failed", failure={"class": "PodLost", "message": "gone"}),
            ["Failed: PodLost: gone"],
        ),
        (
            None,
            _run(phase="Queued", queue={"reason": "ThreadBusy", "position": 3}),
            ["Queued: ThreadBusy, position 3"],
        ),
    ],
)
def test_a_watcher_is_told_what_has_changed(before: Json | None, now: Json, lines: list[str]) -> None:
    assert told(before, now) == lines


def test_a_question_is_told_once_with_how_to_answer_it() -> None:
    question = {"id": "q", "type": "MissingInfo", "text": "Which\x1b one?", "options": ["red", "blue"]}
    asking = _run(phase="AwaitingInput", runner={"question": question})
    lines = told(_run(phase="Running"), asking)
    assert lines == [
        "AwaitingInput", "  Which· one?", "", "    1. red", "    2. blue",
        "  answer it with: skerry answer hello --text TEXT or --option N",
    ]  # fmt: skip
    asking["metadata"]["namespace"] = "runs"
    assert told(None, asking)[-1] == "  answer it with: skerry answer hello -n runs --text TEXT or --option N"
    assert told(asking, asking) == []
    assert told(asking, _run(phase="Provisioning", epoch=2)) == ["Provisioning"]


@pytest.mark.parametrize("phase", list(RunPhase))
def test_only_a_terminal_phase_is_the_end(phase: RunPhase) -> None:
    assert is_over(_run(phase=phase.value)) == (
        phase.value in {"Succeeded", "Failed", "TimedOut", "Cancelled"}
    )


def test_a_log_is_read_when_there_is_one() -> None:
    assert pod_to_read({}) is None
    assert pod_to_read(_run(phase="Provisioning", podName="p")) is None
    assert pod_to_read(_run(phase="Running", podName="p")) == "p"
    assert pod_to_read(_run(phase="Failed", podName="p", runner={"outcome": {"class": "AppError"}})) == "p"
    assert pod_to_read(_run(phase="Failed", podName="p")) is None


def test_a_question_whose_text_is_kept_out_of_status_is_told_by_its_id() -> None:
    question = {"id": "q", "type": "MissingInfo", "textRef": {"size": 4, "event": "question"}}
    lines = told(None, _run(phase="AwaitingInput", runner={"question": question}))
    assert any(
        "Question q (MissingInfo): its text stands in the run's journal alone" in line for line in lines
    )
    assert any("skerry answer" in line for line in lines)
