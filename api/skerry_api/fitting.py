"""Whether a JSON value fits a structural schema, as the API server judges it; and whether its rules hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Any

from skerry_api.base import RULES_KEY
from skerry_api.problems import Problem
from skerry_api.structural import Schema

__all__ = ["broken_rules", "misfits", "unknown_fields"]

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "boolean": (bool,), "integer": (int,),
}  # fmt: skip
_INT64 = 2**63
_SCALARS = (str, int, float, bool)


def unknown_fields(schema: Schema, value: Any, path: str) -> Iterator[Problem]:
    """Fields that the schema has no word for: refused under strict validation, dropped otherwise."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from unknown_fields(schema.get("items", {}), item, f"{path}[{index}]")
    elif isinstance(value, dict):
        properties = schema.get("properties", {})
        for name, child in value.items():
            where = f"{path}.{name}" if path else str(name)
            if name in properties:
                yield from unknown_fields(properties[name], child, where)
            elif "additionalProperties" in schema:
                yield from unknown_fields(schema["additionalProperties"], child, where)
            else:
                yield Problem(where, "unknown field")


def misfits(schema: Schema, value: Any, path: str) -> Iterator[Problem]:
    """Everything but the rules: types, bounds, patterns, enums, required fields, unique list entries."""
    kind = schema["type"]
    if not _is(kind, value):
        yield Problem(path, f"must be {'an' if kind[0] in 'aio' else 'a'} {kind}, not {_name_of(value)}")
    elif kind == "object":
        yield from _object(schema, value, path)
    elif kind == "array":
        yield from _array(schema, value, path)
    else:
        yield from _scalar(schema, value, path)


def broken_rules(
    schema: Schema, value: Any, old: Any, path: str, *, local: bool = False
) -> Iterator[Problem]:
    """Rules that don't hold for a value that fits. `old` is its former self, None at creation.

    `local` leaves out rules that are about a cluster alone.
    """
    for rule in schema.get(RULES_KEY, ()):
        if local and rule.cluster:
            continue
        if (old is not None or not rule.transition) and not rule.holds(value, old):
            yield Problem(f"{path}{rule.field_path or ''}".removeprefix("."), rule.message)
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for name, child in value.items():
            before = old.get(name) if isinstance(old, dict) else None
            where = f"{path}.{name}" if path else str(name)
            if name in properties:
                yield from broken_rules(properties[name], child, before, where, local=local)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            before = _former(schema, item, old)
            yield from broken_rules(schema["items"], item, before, f"{path}[{index}]", local=local)


def _former(schema: Schema, item: Any, old: Any) -> Any:
    """The entry as it was: only those of lists that are maps have an identity."""
    if schema.get("x-kubernetes-list-type") != "map" or not isinstance(old, list):
        return None
    keys = schema["x-kubernetes-list-map-keys"]
    return next((each for each in old if all(each.get(key) == item.get(key) for key in keys)), None)


def _is(kind: str, value: Any) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()  # JSON has one kind of number: 3.0 is 3.
    return isinstance(value, _TYPES[kind])


def _name_of(value: Any) -> str:
    if value is None:
        return "null"
    for kind in ("boolean", "integer", "string", "array", "object"):
        if _is(kind, value):
            return f"{'an' if kind[0] in 'aio' else 'a'} {kind}"
    return "a number" if isinstance(value, float) else f"a {type(value).__name__}"


def _object(schema: Schema, value: dict[str, Any], path: str) -> Iterator[Problem]:
    def below(name: str) -> str:
        return f"{path}.{name}" if path else name

    for name in schema.get("required", ()):
        if name not in value:
            yield Problem(below(name), "is required")
    if len(value) > schema.get("maxProperties", len(value)):
        yield Problem(path, f"must have at most {schema['maxProperties']} entries")
    for name, child in value.items():
        if inner := schema.get("properties", {}).get(name) or schema.get("additionalProperties"):
            yield from misfits(inner, child, below(str(name)))


def _array(schema: Schema, value: list[Any], path: str) -> Iterator[Problem]:
    if len(value) < schema.get("minItems", 0):
        yield Problem(path, f"must have at least {schema['minItems']} entries")
    if len(value) > schema.get("maxItems", len(value)):
        yield Problem(path, f"must have at most {schema['maxItems']} entries")
    for index, item in enumerate(value):
        yield from misfits(schema["items"], item, f"{path}[{index}]")
    yield from _duplicates(schema, value, path)


def _duplicates(schema: Schema, value: list[Any], path: str) -> Iterator[Problem]:
    seen: set[tuple[Any, ...]] = set()
    for index, item in enumerate(value):
        match schema.get("x-kubernetes-list-type"):
            case "set" if isinstance(item, _SCALARS):
                key: tuple[Any, ...] = (type(item), item)
            case "map" if isinstance(item, dict):
                key = tuple(item.get(name) for name in schema["x-kubernetes-list-map-keys"])
            case _:
                continue
        if key in seen:
            yield Problem(f"{path}[{index}]", "occurs twice")
        seen.add(key)


def _scalar(schema: Schema, value: Any, path: str) -> Iterator[Problem]:
    if "enum" in schema and value not in schema["enum"]:
        yield Problem(path, f"must be one of {', '.join(schema['enum'])}")
    if isinstance(value, str):
        yield from _string(schema, value, path)
    elif not isinstance(value, bool):
        low, high = schema.get("minimum", -_INT64), schema.get("maximum", _INT64 - 1)
        if not low <= value <= high:
            yield Problem(path, f"must be from {low} to {high}")


def _string(schema: Schema, value: str, path: str) -> Iterator[Problem]:
    if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
        yield Problem(path, "must be text: half of a surrogate pair stands in it")
    if len(value) < schema.get("minLength", 0):
        yield Problem(path, "must not be empty")
    if len(value) > schema.get("maxLength", len(value)):
        yield Problem(path, f"must have at most {schema['maxLength']} characters")
    if "pattern" in schema and not _compiled(schema["pattern"]).search(value):
        yield Problem(path, f"must match {schema['pattern']}")
    if schema.get("format") == "date-time" and not _is_time(value):
        yield Problem(path, "must be a time as in RFC 3339, e.g. 2030-01-31T12:00:00Z")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # RE2's `$` is the end of the text; Python's also matches before a last line break.
    return re.compile(re.sub(r"(?<!\\)\$$", r"\\Z", pattern), re.ASCII)


def _is_time(value: str) -> bool:
    try:
        return datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False
