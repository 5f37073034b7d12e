"""Offline checks of the metadata that a person writes, as the API server makes them for every kind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from skerry_api.problems import Problem

__all__ = ["check_metadata", "final_name"]

# Of metav1.ObjectMeta; under strict validation any other field is refused.
_FIELDS = frozenset({
    "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp",
    "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers",
    "managedFields",
})  # fmt: skip
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*", re.ASCII)
_NAMESPACE = re.compile(_LABEL, re.ASCII)
_QUALIFIED = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?", re.ASCII)
_DOTLESS = {"AgentRun": 52, "Sandbox": 63}
"""Kinds whose names rules of their own hold to labels of at most so many characters: told at once."""
_GENERATED = 5
"""Characters that the API server puts behind a generateName."""
_ANNOTATIONS_MAX = 256 * 1024


def final_name(metadata: dict[str, Any]) -> str:
    """The object's name, or one as long as the API server would make of its generateName."""
    if name := metadata.get("name"):
        return str(name)
    prefix = metadata.get("generateName")
    return f"{prefix[: 63 - _GENERATED]}{'x' * _GENERATED}" if isinstance(prefix, str) and prefix else ""


def check_metadata(metadata: Any, kind: str = "") -> Iterator[Problem]:
    """Unknown fields, names, labels and annotations; `kind` is whose metadata it is, for its words."""
    if not isinstance(metadata, dict):
        yield Problem("metadata", "must be an object")
        return
    for name in metadata.keys() - _FIELDS:
        yield Problem(f"metadata.{name}", "unknown field")
    yield from _names(metadata, kind)
    yield from _labels(metadata.get("labels"))
    yield from _annotations(metadata.get("annotations"))


def _names(metadata: dict[str, Any], kind: str) -> Iterator[Problem]:
    strings = {key: metadata.get(key) for key in ("name", "generateName", "namespace")}
    for key, value in strings.items():
        if value is not None and not isinstance(value, str):
            yield Problem(f"metadata.{key}", "must be a string")
            return
    name = final_name(metadata)
    if not name:
        yield Problem("metadata.name", "is required")
    elif len(name) > 253 or not _SUBDOMAIN.fullmatch(name):
        key = "name" if metadata.get("name") else "generateName"
        limit = _DOTLESS.get(kind)
        signs = "digits, '-' and '.'" if limit is None else "digits and '-', no dots"
        yield Problem(
            f"metadata.{key}", f"must be lower-case letters, {signs}, at most {limit or 253} characters"
        )
    namespace = strings["namespace"]
    if namespace and (len(namespace) > 63 or not _NAMESPACE.fullmatch(namespace)):
        yield Problem(
            "metadata.namespace", "must be lower-case letters, digits and '-', at most 63 characters"
        )


def _labels(labels: Any) -> Iterator[Problem]:
    if labels is None:
        return
    if not isinstance(labels, dict) or any(not isinstance(value, str | None) for value in labels.values()):
        yield Problem("metadata.labels", "must be a map of strings")
        return
    for key, value in labels.items():
        if not _qualified(key):
            yield Problem("metadata.labels", f"{key!r} is no label key")
        if value and (len(value) > 63 or not _QUALIFIED.fullmatch(value)):
            yield Problem("metadata.labels", f"{value!r} is no label value")


def _annotations(annotations: Any) -> Iterator[Problem]:
    if annotations is None:
        return
    if not isinstance(annotations, dict) or any(not isinstance(v, str | None) for v in annotations.values()):
        yield Problem("metadata.annotations", "must be a map of strings")
        return
    for key in annotations:
        if not _qualified(key.lower()):
            yield Problem("metadata.annotations", f"{key!r} is no annotation key")
    size = sum(len(key.encode()) + len((value or "").encode()) for key, value in annotations.items())
    if size > _ANNOTATIONS_MAX:
        yield Problem("metadata.annotations", f"must have at most {_ANNOTATIONS_MAX} bytes in all")


def _qualified(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    if slash and (len(prefix) > 253 or not _SUBDOMAIN.fullmatch(prefix)):
        return False
    return len(name) <= 63 and _QUALIFIED.fullmatch(name) is not None
