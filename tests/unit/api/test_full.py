"""The full objects really are full, and pass through the models unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from skerry_api.agentrun import RUNNER_FIELDS
from skerry_api.kinds import KINDS
from skerry_api.structural import Schema, structural
from skerry_testing.full import FULL, OPERATOR_STATUS, RUNNER_STATUS


def missing(schema: Schema, value: Any, path: str) -> Iterator[str]:
    for name, child in schema.get("properties", {}).items():
        if name not in value:
            yield f"{path}.{name}"
        elif child["type"] == "array":
            yield from missing(child["items"], value[name][0], f"{path}.{name}[]")
        elif child["type"] == "object":
            yield from missing(child, value[name], f"{path}.{name}")


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_is_set(kind: str) -> None:
    assert list(missing(structural(KINDS[kind]), FULL[kind], kind)) == []


@pytest.mark.parametrize("kind", KINDS)
def test_models_lose_nothing(kind: str) -> None:
    wire = KINDS[kind].read(FULL[kind]).wire()
    assert {part: wire.get(part) for part in ("spec", "status")} == {
        part: FULL[kind].get(part) for part in ("spec", "status")
    }


def test_each_status_field_of_a_run_has_one_writer() -> None:
    assert RUNNER_STATUS.keys() == RUNNER_FIELDS
    assert OPERATOR_STATUS.keys().isdisjoint(RUNNER_FIELDS)
    fields = structural(KINDS["AgentRun"])["properties"]["status"]["properties"].keys()
    assert fields == OPERATOR_STATUS.keys() | RUNNER_FIELDS
