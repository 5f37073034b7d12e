"""Reading conditions."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_devcluster.health import condition


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
