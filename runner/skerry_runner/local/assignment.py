"""Which run this is, on a laptop: files and options become the same document that an operator would have mounted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from skerry_api.agentprofile import AgentProfile, AgentProfileSpec, ProfileModel
from skerry_api.agentrun import AgentRun
from skerry_api.base import ObjectMeta
from skerry_api.document import API_KEY_ENV, RunDocument
from skerry_api.problems import Problem
from skerry_api.resolve import SCRIPTED, resolve
from skerry_runner.files import GivenFile
from skerry_runner.local.givenfiles import given_files
from skerry_runner.local.objects import NAMESPACE, Objects, sort_objects
from skerry_runner.local.profileskills import profile_skills
from skerry_runner.local.requestheaders import request_headers
from skerry_runner.local.scriptfaults import script_faults
from skerry_runner.local.yamldoc import Document, FileProblem
from skerry_runner.skills import Skill

__all__ = ["Assignment", "Options", "assign"]

_SCRIPT = "spec.model.script"


@dataclass(frozen=True)
class Options:
    """What the command line lays over the files. `script` is (file, text)."""

    script: tuple[str, str] | None = None
    thread: str | None = None
    files: tuple[GivenFile, ...] = ()


@dataclass(frozen=True)
class Assignment:
    """A run that can start."""

    run: AgentRun
    profile: AgentProfile
    document: RunDocument
    api_key: str | None
    files: tuple[GivenFile, ...] = ()
    skills: tuple[Skill, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    """Of MCP servers and the guardrail, as `request_headers` gives them."""


def assign(
    documents: Iterable[Document],
    options: Options,
    env: Mapping[str, str],
    *,
    uid: str,
    now: datetime,
    epoch: int = 1,
) -> Assignment | list[FileProblem]:
    """The run of the files, under this UID, or everything that keeps it from starting. Never raises."""
    documents = list(documents)
    for document in documents:
        _lay_over(document.raw, options)
    objects, problems = sort_objects(documents)
    run, source = objects.run, objects.run_document
    if problems or run is None or source is None:
        return [_in_script(found, options) for found in problems]
    run = _created(run, source.raw["metadata"].get("generateName", ""), uid, now)
    profile, profile_source = _profile(objects, run.spec.profile_ref.name)
    if profile is None:
        words = f"there is no AgentProfile {run.spec.profile_ref.name!r} of namespace {run.metadata.namespace} in the files"
        return [source.at(Problem("spec.profileRef.name", words))]
    made = resolve(run, profile, objects.texts, epoch=epoch)
    if not isinstance(made, RunDocument):
        return [_in_script(_placed(found, source, profile_source), options) for found in made]
    own = run.spec.model is not None and run.spec.model.script is not None
    if options.script and own:
        model = made.model.model_copy(update={"script_source": options.script[0]})
        made = made.model_copy(update={"model": model})
    key, missing = _api_key(profile, made.model.name, objects.secrets, env)
    headers, unknown = request_headers(profile, objects.secrets, env)
    files, lacking = given_files(run, objects.contents, options.files)
    skills, absent = profile_skills(profile, objects.contents)
    faults = [*missing, *unknown, *lacking, *absent, *_script_faults(made)]
    if faults:
        return [_in_script(_placed(found, source, profile_source), options) for found in faults]
    return Assignment(run, profile, made, key, files, skills, headers)


def _lay_over(raw: Any, options: Options) -> None:
    """Options become part of the manifest, so that they are checked like the rest of it."""
    spec = raw.get("spec") if isinstance(raw, dict) and raw.get("kind") == AgentRun.KIND else None
    if not isinstance(spec, dict):
        return
    if options.thread is not None:
        spec["threadId"] = options.thread
    if options.script is not None and isinstance(spec.get("model") or {}, dict):
        spec["model"] = {**(spec.get("model") or {}), "script": options.script[1]}


def _created(run: AgentRun, prefix: str, uid: str, now: datetime) -> AgentRun:
    meta = run.metadata
    created = meta.model_copy(
        update={
            "name": meta.name or f"{prefix}{uid[:5]}",
            "namespace": meta.namespace or NAMESPACE,
            "uid": uid,
            "generation": 1,
            "creation_timestamp": now,
        }
    )
    return run.model_copy(update={"metadata": created})


def _profile(objects: Objects, name: str) -> tuple[AgentProfile | None, Document | None]:
    if name in objects.profiles:
        return objects.profiles[name]
    if name == SCRIPTED:
        # Every prepared namespace of a cluster has it; so has a laptop.
        spec = AgentProfileSpec(model=ProfileModel(name=SCRIPTED))
        return AgentProfile(metadata=ObjectMeta(name=SCRIPTED), spec=spec), None
    return None, None


def _placed(problem: Problem, run: Document, profile: Document | None) -> FileProblem:
    """Where a problem of `resolve` stands: a path of the profile starts with its kind and name."""
    subject, colon, path = problem.path.partition(": ")
    if colon and subject.startswith(AgentProfile.KIND) and profile is not None:
        return profile.at(Problem(path, problem.message))
    return run.at(problem)


def _in_script(found: FileProblem, options: Options) -> FileProblem:
    """A problem of a script that came from a file of its own stands there."""
    if options.script is None or found.problem.path != _SCRIPT:
        return found
    return FileProblem(options.script[0], None, "", Problem("", found.problem.message))


def _api_key(
    profile: AgentProfile, model: str, secrets: Mapping[tuple[str, str], str], env: Mapping[str, str]
) -> tuple[str | None, list[Problem]]:
    """The model's key: from a Secret among the files, else from the environment."""
    ref = profile.spec.model.api_key_secret_ref
    key = secrets.get((ref.name, ref.key)) if ref else None
    key = key or env.get(API_KEY_ENV) or None
    if ref is None or key is not None or model == SCRIPTED:
        return key, []
    path = f"AgentProfile {profile.metadata.name}: spec.model.apiKeySecretRef"
    words = f"no Secret {ref.name} with key {ref.key} in the files, and {API_KEY_ENV} is not set"
    return None, [Problem(path, words)]


def _script_faults(document: RunDocument) -> list[Problem]:
    if document.model.script is None:
        return []
    source = document.model.script_source or _SCRIPT
    return script_faults(document.model.script, source if source.startswith(AgentProfile.KIND) else _SCRIPT)
