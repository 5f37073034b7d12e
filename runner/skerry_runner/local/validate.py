"""Manifests held to what the API server would say, and runs to the profiles beside them. Pure; nothing is started."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from skerry_api.agentprofile import AgentProfile
from skerry_api.agentrun import AgentRun
from skerry_api.base import API_VERSION, ObjectMeta
from skerry_api.kinds import KINDS
from skerry_api.problems import Problem
from skerry_api.resolve import TextNeed, Texts, mounts_needed, resolve, texts_needed
from skerry_runner.local.objects import Contents, check_document, contents_of, whole
from skerry_runner.local.scriptfaults import script_faults
from skerry_runner.local.yamldoc import Document, FileProblem

__all__ = ["Verdict", "validate"]

_GROUP = API_VERSION.partition("/")[0]


@dataclass(frozen=True)
class Verdict:
    """`checked` objects were looked at, `others` (of kinds that are not ours) were not."""

    problems: tuple[FileProblem, ...]
    checked: int
    others: int


def validate(documents: Iterable[Document]) -> Verdict:
    """Every problem of every document. Never raises.

    What a run or profile refers to may stand in a cluster: a reference is only judged where its object is among
    the documents. So is a run against its profile.
    """
    documents = list(documents)
    ours = [document for document in documents if _is_ours(document)]
    faults = {id(document): check_document(document, local=False) for document in ours}
    problems = [found for document in ours for found in faults[id(document)]]
    good = [document for document in ours if not faults[id(document)]]
    problems += _twice(good)
    world = _World(good)
    for document in good:
        if document.raw["kind"] == AgentProfile.KIND:
            problems += world.of_profile(document)
        elif document.raw["kind"] == AgentRun.KIND:
            problems += world.of_run(document)
    order = {id(document): place for place, document in enumerate(documents)}
    problems.sort(key=lambda found: _place(found, documents, order))
    return Verdict(tuple(dict.fromkeys(problems)), len(ours), len(documents) - len(ours))


def _is_ours(document: Document) -> bool:
    raw = document.raw
    if not isinstance(raw, dict):
        return True  # no manifest at all: that is a fault
    version, kind = raw.get("apiVersion"), raw.get("kind")
    return (
        not isinstance(kind, str)
        or kind in KINDS
        or kind == "ConfigMap"
        or str(version).startswith(f"{_GROUP}/")
    )


def _place(found: FileProblem, documents: Sequence[Document], order: Mapping[int, int]) -> tuple[int, int]:
    first = next((order[id(d)] for d in documents if d.file == found.file), 0)
    return first, found.line or 0


def _key(document: Document) -> tuple[str, str, str]:
    meta = document.raw["metadata"]
    return document.raw["kind"], meta.get("namespace") or "", meta.get("name") or ""


def _twice(documents: Sequence[Document]) -> list[FileProblem]:
    problems, seen = [], set()
    for document in documents:
        key = _key(document)
        if key[2] and key in seen:
            problems.append(document.at(Problem("metadata.name", f"there is another {key[0]} of this name")))
        seen.add(key)
    return problems


class _World:
    """What the documents hold, by namespace ("" where a manifest names none)."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._profiles: dict[tuple[str, str], tuple[AgentProfile, Document]] = {}
        self._contents: dict[str, Contents] = {}
        self._maps: set[tuple[str, str]] = set()
        for document in documents:
            kind, namespace, name = _key(document)
            if kind == AgentProfile.KIND:
                self._profiles[namespace, name] = AgentProfile.read(whole(document.raw)), document
            elif kind == "ConfigMap":
                self._maps.add((namespace, name))
                contents_of(document.raw, self._contents.setdefault(namespace, Contents()))

    def of_profile(self, document: Document) -> list[FileProblem]:
        """Its script, and the ConfigMaps of its skills."""
        _, namespace, name = _key(document)
        profile = self._profiles[namespace, name][0]
        contents = self._contents.get(namespace, Contents())
        probe = AgentRun.read(
            {
                "metadata": {"name": "probe", "uid": "probe", "namespace": namespace},
                "spec": {"profileRef": {"name": name}, "prompt": "x"},
            }
        )  # fmt: skip
        needs = [*texts_needed(probe, profile), *mounts_needed(probe, profile)]
        missing = [self._missing(need, namespace, contents) for need in needs]
        model = profile.spec.model
        scripts = [] if model.script is None else script_faults(model.script, "spec.model.script")
        if model.script_ref is not None:
            ref = model.script_ref.config_map_key_ref
            text = contents.texts.get((ref.name, ref.key))
            scripts = (
                []
                if text is None
                else script_faults(text, f"spec.model.scriptRef: ConfigMap {ref.name}, key {ref.key}")
            )
        own = [_of_profile(found) for found in missing if found is not None]
        return [document.at(found) for found in (*own, *scripts)]

    def of_run(self, document: Document) -> list[FileProblem]:
        """Its script, and what its profile allows."""
        run = AgentRun.read(whole(document.raw))
        namespace = run.metadata.namespace
        script = run.spec.model.script if run.spec.model else None
        problems = [] if script is None else script_faults(script, "spec.model.script")
        profile, source = self._profiles.get((namespace, run.spec.profile_ref.name), (None, None))
        contents = self._contents.get(namespace, Contents())
        if profile is None:
            missing = [self._missing(need, namespace, contents) for need in mounts_needed(run, _NOBODY)]
            return [document.at(found) for found in (*problems, *(m for m in missing if m is not None))]
        needs = texts_needed(run, profile)
        missing = [
            self._missing(need, namespace, contents) for need in (*needs, *mounts_needed(run, profile))
        ]
        problems += [found for found in missing if found is not None]
        texts: Texts = {need.at: contents.texts.get(need.at, "x") for need in needs}
        named = run.model_copy(
            update={"metadata": run.metadata.model_copy(update={"uid": run.metadata.uid or "new"})}
        )
        made = resolve(named, profile, texts, epoch=1)
        problems += made if isinstance(made, tuple) else ()
        return [_placed(found, document, source) for found in problems]

    def _missing(self, need: TextNeed, namespace: str, contents: Contents) -> Problem | None:
        if (namespace, need.ref.name) not in self._maps or need.at in contents.files:
            return None
        return Problem(need.path, f"ConfigMap {need.ref.name} has no key {need.ref.key}")


_NOBODY = AgentProfile.read(
    {"metadata": ObjectMeta(name="nobody").model_dump(by_alias=True), "spec": {"model": {"name": "scripted"}}}
)


def _of_profile(problem: Problem) -> Problem:
    return Problem(problem.path.partition(": ")[2] or problem.path, problem.message)


def _placed(problem: Problem, run: Document, profile: Document | None) -> FileProblem:
    """Where a problem of `resolve` stands: a path of the profile starts with its kind and name."""
    subject, colon, path = problem.path.partition(": ")
    if colon and subject.startswith(AgentProfile.KIND) and profile is not None:
        return profile.at(Problem(path, problem.message))
    return run.at(problem)
