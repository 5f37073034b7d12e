"""What the API server would say of a manifest of ours, without one: for `skerry run` and for checks in Git."""

from __future__ import annotations

from typing import Any

from skerry_api.base import API_VERSION
from skerry_api.defaults import apply_defaults
from skerry_api.fitting import broken_rules, misfits, unknown_fields
from skerry_api.kinds import KINDS
from skerry_api.objectmeta import check_metadata, final_name
from skerry_api.problems import Problem
from skerry_api.structural import Schema, structural

__all__ = ["check"]


def check(raw: Any, old: dict[str, Any] | None = None, *, local: bool = False) -> list[Problem]:
    """Every problem that would have the manifest refused, in the order spec is written; none if it is good.

    `raw` is the parsed YAML or JSON of one object, `old` the object that it would replace (rules on changes
    are checked then). As on the server a status is not taken from a manifest, but its unknown fields are
    refused, and cross-field rules are looked at once everything else is right. Never raises for bad input.

    `local` leaves out rules that are about a cluster alone: what is to run on this machine need not fit one.
    """
    if not isinstance(raw, dict):
        return [Problem("", "must be an object with apiVersion, kind, metadata and spec")]
    if problems := _type_problems(raw):
        return problems
    schema = structural(KINDS[raw["kind"]])
    body = _body(schema)
    problems = [
        *unknown_fields(body, {key: value for key, value in raw.items() if key != "metadata"}, ""),
        *check_metadata(raw.get("metadata"), raw["kind"]),
    ]
    full = apply_defaults({key: value for key, value in raw.items() if key != "status"})
    problems += misfits(body, {key: full[key] for key in full if key != "metadata"}, "")
    if problems:
        return problems
    subject = {**full, "metadata": {**full["metadata"], "name": final_name(full["metadata"])}}
    if old is not None and "status" in old:
        subject["status"] = old["status"]
    return list(broken_rules(schema, subject, old and apply_defaults(old), "", local=local))


def _type_problems(raw: dict[str, Any]) -> list[Problem]:
    problems = []
    if raw.get("apiVersion") != API_VERSION:
        problems.append(Problem("apiVersion", f"must be {API_VERSION}"))
    if not isinstance(raw.get("kind"), str) or raw["kind"] not in KINDS:
        problems.append(Problem("kind", f"must be one of {', '.join(KINDS)}"))
    return problems


def _body(schema: Schema) -> Schema:
    """The schema without metadata, which has checks of its own."""
    return {**schema, "properties": {k: v for k, v in schema["properties"].items() if k != "metadata"}}
