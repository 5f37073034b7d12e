"""The objects of the files: one AgentRun and what it refers to, each held to what the API server would say."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from skerry_api.agentprofile import AgentProfile
from skerry_api.agentrun import AgentRun
from skerry_api.base import API_VERSION
from skerry_api.defaults import apply_defaults
from skerry_api.kinds import KINDS
from skerry_api.problems import Problem
from skerry_api.strict import check
from skerry_runner.local.profilefaults import profile_faults
from skerry_runner.local.yamldoc import Document, FileProblem

__all__ = [
    "NAMESPACE",
    "Contents",
    "Objects",
    "check_document",
    "contents_of",
    "sort_objects",
    "whole",
]

NAMESPACE = "default"
"""Namespace of a run that names none."""
_CORE = {"ConfigMap", "Secret"}


@dataclass
class Contents:
    """Values of ConfigMaps by (name, key): those of data as text, and those of data and binaryData as files."""

    texts: dict[tuple[str, str], str] = field(default_factory=dict)
    files: dict[tuple[str, str], bytes] = field(default_factory=dict)


@dataclass
class Objects:
    """What the files hold. Keys are names, within the run's namespace."""

    run: AgentRun | None = None
    run_document: Document | None = None
    profiles: dict[str, tuple[AgentProfile, Document]] = field(default_factory=dict)
    texts: dict[tuple[str, str], str] = field(default_factory=dict)
    contents: dict[tuple[str, str], bytes] = field(default_factory=dict)
    """Values of ConfigMaps as files: of data and of binaryData."""
    secrets: dict[tuple[str, str], str] = field(default_factory=dict)


def sort_objects(documents: Iterable[Document]) -> tuple[Objects, list[FileProblem]]:
    """Check and sort the documents; every problem of every one. Never raises."""
    documents = list(documents)
    problems = [found for document in documents for found in check_document(document, local=True)]
    objects = Objects()
    if problems:
        return objects, problems
    runs = [document for document in documents if document.raw["kind"] == AgentRun.KIND]
    problems += [extra.at(Problem("kind", "only one AgentRun can be run at a time")) for extra in runs[1:]]
    if not runs:
        file = documents[0].file if documents else "-"
        problems.append(FileProblem(file, None, "", Problem("", "no AgentRun in the files")))
        return objects, problems
    objects.run, objects.run_document = AgentRun.read(whole(runs[0].raw)), runs[0]
    namespace = objects.run.metadata.namespace or NAMESPACE
    seen: set[tuple[str, str, str]] = set()
    for document in documents:
        kind, meta = document.raw["kind"], document.raw["metadata"]
        where = meta.get("namespace") or namespace
        if kind != AgentRun.KIND and (key := (kind, where, meta.get("name", ""))) in seen:
            problems.append(document.at(Problem("metadata.name", f"there is another {kind} of this name")))
        elif kind != AgentRun.KIND:
            seen.add(key)
        if where == namespace:
            _take(objects, document)
    return objects, problems


def whole(raw: dict[str, Any]) -> dict[str, Any]:
    """As the API server would store it; a status in a manifest is not taken."""
    return {key: value for key, value in apply_defaults(raw).items() if key != "status"}


def check_document(document: Document, *, local: bool) -> list[FileProblem]:
    """Every problem of one document; `local` as `strict.check` takes it. Never raises."""
    raw = document.raw
    kind = raw.get("kind") if isinstance(raw, dict) else None
    if not isinstance(kind, str) or kind in KINDS:
        problems = check(raw, local=local)
        if kind == AgentProfile.KIND and not problems:
            problems = list(profile_faults(AgentProfile.read(whole(raw))))
        return [document.at(problem) for problem in problems]
    if kind in _CORE:
        return [document.at(problem) for problem in _check_core(raw)]
    known = (*KINDS, *sorted(_CORE))
    near = get_close_matches(str(kind), known, 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return [document.at(Problem("kind", f"{kind!r} is of no use here; known: {', '.join(known)}{hint}"))]


def _check_core(raw: dict[str, Any]) -> Iterable[Problem]:
    """ConfigMaps and Secrets, as far as they matter here."""
    if raw.get("apiVersion") != "v1":
        yield Problem("apiVersion", f"must be v1 (only Skerry's own kinds are {API_VERSION})")
    metadata = raw.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        yield Problem("metadata.name", "is required")
    for name in ("data", "stringData", "binaryData"):
        data = raw.get(name) or {}
        if not isinstance(data, dict):
            yield Problem(name, "must be a map of strings")
            continue
        for key, value in data.items():
            if not isinstance(value, str):
                yield Problem(f"{name}.{key}", "must be a string (quote it)")
            elif raw["kind"] == "Secret" and name == "data" and _decoded(value) is None:
                yield Problem(f"{name}.{key}", "must be base64; plain text goes under stringData")
            elif raw["kind"] == "ConfigMap" and name == "binaryData" and _bytes(value) is None:
                yield Problem(f"{name}.{key}", "must be base64; text goes under data")


def _decoded(value: str) -> str | None:
    data = _bytes(value)
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError:
        return None


def _bytes(value: str) -> bytes | None:
    try:
        return base64.b64decode("".join(value.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def _take(objects: Objects, document: Document) -> None:
    raw = document.raw
    name = raw["metadata"].get("name", "")
    if raw["kind"] == AgentProfile.KIND:
        objects.profiles[name] = (AgentProfile.read(whole(raw)), document)
    elif raw["kind"] == "ConfigMap":
        contents_of(raw, Contents(objects.texts, objects.contents))
    elif raw["kind"] == "Secret":
        data = {key: _decoded(value) or "" for key, value in (raw.get("data") or {}).items()}
        objects.secrets |= {
            (name, key): value for key, value in (data | (raw.get("stringData") or {})).items()
        }


def contents_of(raw: dict[str, Any], contents: Contents) -> None:
    """Add a ConfigMap's values."""
    name = raw["metadata"].get("name", "")
    texts = {(name, key): value for key, value in (raw.get("data") or {}).items()}
    contents.texts |= texts
    contents.files |= {
        (name, key): _bytes(value) or b"" for key, value in (raw.get("binaryData") or {}).items()
    }
    contents.files |= {at: text.encode("utf-8", "surrogatepass") for at, text in texts.items()}
