"""Reading conditions."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_devcluster.health import condition, renew_time


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


@pytest.mark.parametrize(
    ("lease", "seconds"),
    [
        ({"spec": {"renewTime": "1970-01-01T00:01:40.500000Z"}}, 100.5),
        ({"spec": {}}, None),
        ({}, None),
        (None, None),
    ],
)
def test_renew_time(lease: dict[str, Any] | None, seconds: float | None) -> None:
    assert renew_time(lease) == seconds
