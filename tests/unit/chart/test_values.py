"""values.yaml and values.schema.json say the same, and the schema says it with words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

CHART = Path(__file__).resolve().parents[3] / "charts" / "skerry"
SCHEMA: dict[str, Any] = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))


def _nodes(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, each in schema.get("properties", {}).items():
        yield f"{path}.{name}", each
        yield from _nodes(each, f"{path}.{name}")
    items = schema.get("items", {})
    if items.get("properties"):
        yield from _nodes(items, f"{path}[]")


NODES = dict(_nodes(SCHEMA))


def _leaves(schema: dict[str, Any], value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, dict) and schema.get("properties"):
        for name, inner in value.items():
            yield from _leaves(schema["properties"].get(name, {}), inner, f"{path}.{name}")
    else:
        yield path


@pytest.mark.parametrize("path", sorted(NODES))
def test_every_value_is_described_and_objects_are_closed(path: str) -> None:
    node = NODES[path]
    assert len(node["description"]) > 3
    assert node["description"].endswith(".")
    if "properties" in node:
        assert node["additionalProperties"] is False


def test_the_schema_knows_every_value() -> None:
    unknown = [path for path in _leaves(SCHEMA, VALUES) if path not in NODES]
    assert unknown == []


def test_every_value_of_the_schema_has_its_default_written_down() -> None:
    there = set(_walk(VALUES))
    optional = {".global"}
    inside_lists = {path for path in NODES if "[]" in path}
    assert sorted(set(NODES) - there - optional - inside_lists) == []


def _walk(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield f"{path}.{name}"
            yield from _walk(inner, f"{path}.{name}")
