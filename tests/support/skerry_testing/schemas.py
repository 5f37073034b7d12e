"""Walking the structural schemas of all kinds."""

from __future__ import annotations

from collections.abc import Iterator

from skerry_api.base import RULES_KEY
from skerry_api.kinds import KINDS
from skerry_api.rules import Rule
from skerry_api.structural import Schema, structural

__all__ = ["all_rules", "walk"]


def walk(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    """Every schema node with its path; entries of lists are `[]`, values of maps `.*`."""
    yield path, schema
    for name, child in schema.get("properties", {}).items():
        yield from walk(child, f"{path}.{name}".removeprefix("."))
    if "items" in schema:
        yield from walk(schema["items"], f"{path}[]")
    if "additionalProperties" in schema:
        yield from walk(schema["additionalProperties"], f"{path}.*")


def all_rules() -> list[Rule]:
    """Every rule of every kind, as often as it occurs."""
    nodes = (node for model in KINDS.values() for _, node in walk(structural(model)))
    return [rule for node in nodes for rule in node.get(RULES_KEY, ())]
