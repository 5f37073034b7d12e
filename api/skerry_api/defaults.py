"""What the API server does to an object before it validates it: nulls go, defaults come."""

from __future__ import annotations

import copy
from typing import Any

from skerry_api.kinds import KINDS
from skerry_api.structural import Schema, structural

__all__ = ["apply_defaults", "fill"]


def apply_defaults(raw: dict[str, Any]) -> dict[str, Any]:
    """A copy of a manifest with the defaults of its kind; of an unknown kind an unchanged copy.

    A manifest that doesn't fit the schema keeps what is wrong with it: `strict.check` says what that is.
    """
    result = copy.deepcopy(raw)
    kind = raw.get("kind")
    if isinstance(kind, str) and kind in KINDS:
        fill(structural(KINDS[kind]), result)
    return result


def fill(schema: Schema, value: Any) -> None:
    """Fill in defaults in place. A null is as good as absent, but for entries of lists, where it is a fault."""
    if isinstance(value, list):
        for item in value:
            fill(schema.get("items", {}), item)
    if not isinstance(value, dict):
        return
    for name in [name for name, child in value.items() if child is None]:
        if name in schema.get("properties", {}) or "additionalProperties" in schema:
            del value[name]
    for name, child in schema.get("properties", {}).items():
        if "default" in child and name not in value:
            value[name] = copy.deepcopy(child["default"])
        if name in value:
            fill(child, value[name])
    for child_value in value.values():
        fill(schema.get("additionalProperties", {}), child_value)
