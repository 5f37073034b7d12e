"""Reading conditions."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_devcluster.health import condition, last_report


@pytest.mark.parametrize(
    ("document", "holds"),
    [
        ({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, True),
        ({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}, False),
        ({"status": {"conditions": [{"type": "Other", "status": "True"}]}}, False),
        ({"status": {}}, False),
        ({}, False),
        (None, False),
    ],
)
def test_condition(document: dict[str, Any] | None, holds: bool) -> None:
    assert condition(document, "Ready") is holds


def reported(text: str) -> dict[str, Any]:
    return {"status": {"conditions": [{"type": "Other"}, {"type": "Ready", "lastHeartbeatTime": text}]}}


@pytest.mark.parametrize(
    ("node", "lease", "seconds"),
    [
        (None, {"spec": {"renewTime": "1970-01-01T00:01:40.500000Z"}}, 100.5),
        (reported("1970-01-01T00:03:20Z"), {"spec": {"renewTime": "1970-01-01T00:01:40.500000Z"}}, 200),
        (reported("1970-01-01T00:01:00Z"), {"spec": {"renewTime": "1970-01-01T00:01:40.500000Z"}}, 100.5),
        (reported("1970-01-01T00:01:00Z"), {"spec": {}}, 60),
        ({}, {}, 0),
        (None, None, 0),
    ],
)
def test_last_report(node: dict[str, Any] | None, lease: dict[str, Any] | None, seconds: float) -> None:
    assert last_report(node, lease) == seconds
