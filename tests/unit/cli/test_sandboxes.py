"""Which sandbox a person means, and whether it can be entered."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_cli.sandboxes import NoSandbox, Target, target_of, usable


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("hello", Target("agentrun", "hello")),
        ("ar/hello", Target("agentrun", "hello")),
        ("AgentRun/hello", Target("agentrun", "hello")),
        ("sbx/sb-1", Target("sandbox", "sb-1")),
        ("sandboxes/sb-1", Target("sandbox", "sb-1")),
    ],
)
def test_target(text: str, meant: Target) -> None:
    assert target_of(text) == meant


@pytest.mark.parametrize("text", ["pod/x", "sbx/", "/x", "a/b/c"])
def test_no_target(text: str) -> None:
    with pytest.raises(NoSandbox, match=text):
        target_of(text)


@pytest.mark.parametrize("phase", ["Ready", "Parked"])
def test_usable(phase: str) -> None:
    assert usable({"metadata": {"name": "s"}, "status": {"phase": phase, "podName": "p"}}) == "p"


@pytest.mark.parametrize(
    ("status", "phase"),
    [
        ({}, "Pending"),
        ({"phase": "Ready"}, "Ready"),
        *[
            ({"phase": each, "podName": "p"}, each)
            for each in ("Pending", "Released", "Terminating", "Failed")
        ],
    ],
)
def test_not_usable(status: dict[str, Any], phase: str) -> None:
    with pytest.raises(NoSandbox, match=f"Sandbox s is {phase}"):
        usable({"metadata": {"name": "s"}, "status": status})
