"""Structural schemas (as CustomResourceDefinitions want them) from the pydantic models.

What pydantic says and a structural schema can't, is rewritten or refused here: refs are inlined, nulls mean
absence, constants are enums, default objects are split over their fields. The result holds `Rule` objects under
`RULES_KEY`, for the offline checks; `rendered()` gives plain JSON for the API server.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from skerry_api.base import IMMUTABLE, MUTABLE, RULES_KEY, KubeObject
from skerry_api.rules import RULES, Rule, immutable_field, immutable_whole, key_length

__all__ = ["Schema", "SchemaError", "rendered", "structural"]

Schema = dict[str, Any]

_ORDER = (
    "description", "type", "format", "enum", "default", "minLength", "maxLength", "pattern", "minimum", "maximum",
    "minItems", "maxItems", "maxProperties", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", MUTABLE,
    RULES_KEY, "required", "properties", "additionalProperties", "items",
)  # fmt: skip
_DROPPED = frozenset({"title", "$ref", "anyOf", "const", "propertyNames", IMMUTABLE})
_API_VERSION = "Version of the schema of this object: skerry.dev/v1alpha1."
_KIND = "Kind of this object."


class SchemaError(ValueError):
    """A model says what a structural schema can't; names the path."""


@cache
def structural(model: type[KubeObject]) -> Schema:
    """The schema of a whole kind; treat it as read-only. Raises SchemaError."""
    raw = model.model_json_schema(by_alias=True)
    definitions = raw.pop("$defs", {})
    meta = raw["properties"].pop("metadata")
    root = _convert(raw, definitions, model.KIND)
    if "$ref" not in meta:  # pragma: no cover - a guard for who changes KubeObject
        raise SchemaError(f"{model.KIND}.metadata: expected a reference")
    strings = {"description": _API_VERSION}, {"description": _KIND}
    head = {
        name: {**text, "type": "string"} for name, text in zip(("apiVersion", "kind"), strings, strict=True)
    }
    # The API server allows no more than this here; naming `name` lets rules at the root have it as fieldPath.
    metadata = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 253}}}
    body = {name: root["properties"][name] for name in ("spec", "status") if name in root["properties"]}
    if "status" in body:
        body["status"] = _without_defaults(body["status"])
    root["properties"] = {**head, "metadata": metadata, **body}
    root["required"] = [name for name in root.get("required", ()) if name in body]
    return _ordered({key: value for key, value in root.items() if value != []})


def rendered(schema: Schema) -> Schema:
    """A copy as plain JSON, without our own markers."""
    result: Schema = {}
    for key, value in schema.items():
        if key == RULES_KEY:
            result[key] = [rule.wire() for rule in value]
        elif key == "properties":
            result[key] = {name: rendered(child) for name, child in value.items()}
        elif key in {"items", "additionalProperties"}:
            result[key] = rendered(value)
        elif key != MUTABLE:
            result[key] = value
    return result


def _resolve(node: Schema, definitions: dict[str, Schema], path: str) -> Schema:
    """Inline references and optional's `anyOf [X, null]`; what stands beside them wins."""
    while "$ref" in node or "anyOf" in node:
        beside = {key: value for key, value in node.items() if key not in {"$ref", "anyOf"}}
        if "$ref" in node:
            target = definitions[node["$ref"].removeprefix("#/$defs/")]
        else:
            choices = [each for each in node["anyOf"] if each != {"type": "null"}]
            if len(choices) != 1:
                raise SchemaError(f"{path}: a union can't stand in a structural schema")
            target = choices[0]
        both = [*target.get(RULES_KEY, ()), *beside.pop(RULES_KEY, ())]
        node = {**target, **beside, **({RULES_KEY: both} if both else {})}
    return node


def _convert(node: Schema, definitions: dict[str, Schema], path: str) -> Schema:
    node = _resolve(node, definitions, path)
    if unknown := node.keys() - set(_ORDER) - _DROPPED:
        raise SchemaError(f"{path}: {sorted(unknown)} can't stand in a structural schema")
    result = {key: value for key, value in node.items() if key not in _DROPPED}
    rules: list[Rule] = [RULES[name] for name in result.pop(RULES_KEY, ())]
    if "const" in node:
        result["enum"] = [node["const"]]
    if result.get("type") == "integer":
        result["format"] = "int64"
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            result[key] = _convert(node[key], definitions, f"{path}[]")
    if "properties" in node:
        result["properties"] = {
            name: _convert(child, definitions, f"{path}.{name}") for name, child in node["properties"].items()
        }
    if "propertyNames" in node:
        rules.append(_key_rule(node["propertyNames"], path))
    rules += _immutability(node, result)
    if rules:
        result[RULES_KEY] = rules
    _settle_default(result)
    return _ordered(result)


def _key_rule(names: Schema, path: str) -> Rule:
    if names.keys() - {"maxLength", "type"}:
        raise SchemaError(f"{path}: of keys only the length can be bounded")
    return key_length(names["maxLength"])


def _immutability(node: Schema, result: Schema) -> list[Rule]:
    match node.get(IMMUTABLE):
        case "whole":
            return [immutable_whole()]
        case "fields":
            required = set(result.get("required", ()))
            return [
                immutable_field(name, required=name in required)
                for name, child in result["properties"].items()
                if MUTABLE not in child
            ]
        case _:
            return []


def _settle_default(schema: Schema) -> None:
    """Leave of a default only what the defaults below don't say, and nothing of one that says nothing."""
    default = _without_nulls(schema.pop("default", None))
    if default is None:
        return
    if schema["type"] == "object" and "properties" in schema:
        children = schema["properties"]
        rest = {
            name: value
            for name, value in default.items()
            if value is not None and value != children[name].get("default") and not _says_nothing(value)
        }
        rest = {name: _trimmed(children[name], value) for name, value in rest.items()}
        rest = {name: value for name, value in rest.items() if not _says_nothing(value)}
        if rest or any("default" in child for child in children.values()):
            schema["default"] = rest
    elif not _says_nothing(default):
        schema["default"] = default


def _trimmed(schema: Schema, value: Any) -> Any:
    if not isinstance(value, dict) or "properties" not in schema:
        return value
    probe: Schema = {"type": "object", "properties": schema["properties"], "default": value}
    _settle_default(probe)
    return probe.get("default", {})


def _without_nulls(value: Any) -> Any:
    """A null in a default is refused by the server; what pydantic has as None is absent."""
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


def _says_nothing(value: Any) -> bool:
    return value in ("", [], {})


def _without_defaults(schema: Schema) -> Schema:
    """Status is written whole by its writers: a default there would be a third one."""
    result = {key: value for key, value in schema.items() if key != "default"}
    for key in ("items", "additionalProperties"):
        if key in result:
            result[key] = _without_defaults(result[key])
    if "properties" in result:
        result["properties"] = {
            name: _without_defaults(child) for name, child in result["properties"].items()
        }
    return result


def _ordered(schema: Schema) -> Schema:
    return {key: schema[key] for key in _ORDER if key in schema}
