"""One Event per transition at most, from the closed list, in the words of the conditions."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_api.agentrun import AgentRunStatus
from skerry_operator.status.events import run_events

Json = dict[str, Any]


def status(phase: str | None, reason: str = "R", message: str = "words", **more: Any) -> AgentRunStatus:
    ready = {
        "type": "Ready",
        "status": "False",
        "reason": reason,
        "message": message,
        "lastTransitionTime": "2026-01-01T12:00:00Z",
    }
    return AgentRunStatus.model_validate({"phase": phase, "conditions": [ready], **more} if phase else {})


NONE = status(None)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (NONE, status("Pending", "ProfileNotFound"), ["Waiting Warning ProfileNotFound: words"]),
        (NONE, status("Queued", "ThreadBusy"), ["Queued Normal ThreadBusy: words"]),
        (NONE, status("Provisioning", "Starting", epoch=1, podName="p"), ["Started Normal Pod p was created"]),
        (NONE, status("Provisioning", "AdmissionForbidden"), ["Waiting Warning AdmissionForbidden: words"]),
        (status("Provisioning", "Starting", epoch=1), status("Provisioning", "ImagePull", epoch=1), ["Waiting Warning ImagePull: words"]),
        (status("Provisioning", "ImagePull", epoch=1), status("Provisioning", "ImagePull", "other", epoch=1), []),
        (status("Provisioning", epoch=1), status("Running", "Running", epoch=1), ["Running Normal words"]),
        (status("Running", epoch=1), status("Running", "Cancelling", epoch=1, cancelled=True), ["Cancelling Normal words"]),
        (
            status("Running", "Evicted", "disk", epoch=1, podName="p"),
            status("Provisioning", epoch=2, podName="q"),
            ["Retrying Warning Evicted: disk; Pod q was created for epoch 2"],
        ),
        (
            status("Running", "Running", epoch=1, podName="p"),
            status("Provisioning", epoch=2, podName="q"),
            ["Retrying Warning PodLost: Pod p is gone; Pod q was created for epoch 2"],
        ),
        (status("Running", epoch=1), status("Succeeded", message="", epoch=1), ["Succeeded Normal the run has ended: Succeeded"]),
        (status("Running", epoch=1), status("Failed", "AppError", epoch=1), ["Failed Warning AppError: words"]),
        (status("Running", epoch=1), status("TimedOut", "Timeout", epoch=1), ["TimedOut Warning Timeout: words"]),
        (status("Running", epoch=1), status("Cancelled", epoch=1, cancelled=True), ["Cancelled Normal words"]),
        (status("Running", epoch=1), status("AwaitingInput", epoch=1), ["AwaitingInput Normal words"]),
        (status("AwaitingInput", epoch=1), status("AwaitingInput", epoch=1), []),
        (status("AwaitingInput", epoch=1), status("AwaitingInput", message="other", epoch=1), ["AwaitingInput Normal other"]),
        (status("AwaitingInput", epoch=1), status("Running", epoch=1), ["Resumed Normal the question was answered; words"]),
        (status("AwaitingInput", epoch=1), status("Running", epoch=1, cancelled=True), ["Cancelling Normal words"]),
        (status("AwaitingInput", epoch=1), status("Provisioning", "Answered", epoch=1), []),
        (
            status("Provisioning", "Answered", epoch=1, podUID="u", runner={"epoch": 1, "podUID": "u", "outcome": {"class": "AwaitingInput"}}),
            status("Provisioning", epoch=2, podName="q"),
            ["Resumed Normal the question was answered; Pod q was created for epoch 2"],
        ),
        (status("Queued"), status("Queued"), []),
        (status("Failed", epoch=1), status("Failed", epoch=1), []),
        (status("Running", epoch=1), status("Running", epoch=1), []),
    ],
)  # fmt: skip
def test_transitions(old: AgentRunStatus, new: AgentRunStatus, expected: list[str]) -> None:
    assert [f"{each.reason} {each.type} {each.message}" for each in run_events(old, new)] == expected
