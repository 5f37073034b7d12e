"""Run and profile become one run document: the rules of who may choose what, in one pure place.

Used by the operator for every epoch and by `skerry run` on a laptop. Fetching texts and finding the profile are
the caller's: `texts_needed` says which ConfigMap keys to bring.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from skerry_api.agentprofile import AgentProfile, AgentProfileSpec, ToolName
from skerry_api.agentrun import AgentRun, AgentRunSpec
from skerry_api.base import ObjectMeta
from skerry_api.common import ConfigMapKeyRef, LocalRef
from skerry_api.document import (
    DOCUMENT_MAX,
    DocumentModel,
    DocumentRun,
    DocumentSandbox,
    DocumentSkill,
    RunDocument,
)
from skerry_api.mcp import needs_sandbox
from skerry_api.names import sandbox_id
from skerry_api.persistence import StateVolume
from skerry_api.phases import Acquire, OutcomeClass, SandboxState
from skerry_api.problems import Problem
from skerry_api.skills import SKILL_FILE

__all__ = [
    "SCRIPTED", "TextNeed", "Texts", "class_of", "document_json", "has_acted", "mounts_needed", "oversize", "resolve", "sketch",
    "texts_needed", "thread_of",
]  # fmt: skip

SCRIPTED = "scripted"
"""Name of the embedded model that plays a script."""

Texts = Mapping[tuple[str, str], str]
"""Texts of ConfigMaps, by (name, key)."""


@dataclass(frozen=True, slots=True)
class TextNeed:
    """A text to bring from a ConfigMap of the run's namespace; `path` is the field that asks for it."""

    path: str
    ref: ConfigMapKeyRef

    @property
    def at(self) -> tuple[str, str]:
        return (self.ref.name, self.ref.key)


@dataclass(frozen=True, slots=True)
class _Script:
    text: str | None
    source: str


def thread_of(run: AgentRun) -> str:
    """The run's thread: the one named, else its own UID."""
    return run.spec.thread_id or run.metadata.uid


def has_acted(run: AgentRun) -> bool:
    """Whether an epoch of the run has called a tool, or asked people: from then on it can only go on, not begin anew."""
    runner = run.status.runner
    if runner is None:
        return False
    called = runner.progress is not None and runner.progress.tool_calls > 0
    asked = runner.outcome is not None and runner.outcome.class_ is OutcomeClass.AWAITING_INPUT
    return called or asked


def class_of(run: AgentRun, profile: AgentProfile) -> str:
    """Name of the SandboxClass that the run asks for, allowed or not; of a run that has a sandbox, that one's."""
    held = run.status.sandbox
    if held is not None and held.class_name is not None and held.state is not SandboxState.RELEASED:
        return held.class_name
    chosen = run.spec.sandbox.class_ref if run.spec.sandbox else None
    return (chosen or profile.spec.sandbox.class_ref).name


def _model_of(run: AgentRun, profile: AgentProfile) -> str:
    return (run.spec.model.name if run.spec.model else None) or profile.spec.model.name


def texts_needed(run: AgentRun, profile: AgentProfile) -> tuple[TextNeed, ...]:
    """The ConfigMap keys that `resolve` will read, in the order of the document."""
    needs = []
    if run.spec.prompt is None and run.spec.prompt_from is not None:
        needs.append(TextNeed("spec.promptFrom.configMapKeyRef", run.spec.prompt_from.config_map_key_ref))
    own_script = run.spec.model.script if run.spec.model else None
    script_ref = profile.spec.model.script_ref
    if script_ref is not None and own_script is None and _model_of(run, profile) == SCRIPTED:
        path = f"AgentProfile {profile.metadata.name}: spec.model.scriptRef.configMapKeyRef"
        needs.append(TextNeed(path, script_ref.config_map_key_ref))
    return tuple(needs)


def mounts_needed(run: AgentRun, profile: AgentProfile) -> tuple[TextNeed, ...]:
    """The ConfigMap keys, text or binary, that the run's files and the profile's skills are made of.

    Their values are no part of the document, but a runner Pod does not start without them.
    """
    files = [
        TextNeed(f"spec.files[{index}].configMapKeyRef", file.config_map_key_ref)
        for index, file in enumerate(run.spec.files)
        if file.config_map_key_ref is not None
    ]
    skills = [
        TextNeed(
            f"AgentProfile {profile.metadata.name}: spec.skills[{index}].configMapRef",
            ConfigMapKeyRef(name=skill.config_map_ref.name, key=SKILL_FILE),
        )
        for index, skill in enumerate(profile.spec.skills)
        if skill.enabled
    ]
    return (*files, *skills)


def _script_of(run: AgentRun, profile: AgentProfile, texts: Texts) -> _Script:
    """The script to play, and where a fault in it is to be looked for."""
    if run.spec.model is not None and run.spec.model.script is not None:
        return _Script(run.spec.model.script, "spec.model.script")
    where = f"AgentProfile {profile.metadata.name}: spec.model"
    if (ref := profile.spec.model.script_ref) is not None:
        at = ref.config_map_key_ref
        return _Script(texts.get((at.name, at.key)), f"{where}.scriptRef (ConfigMap {at.name}, key {at.key})")
    return _Script(profile.spec.model.script, f"{where}.script")


def _not_allowed(path: str, name: str, allowed: tuple[str, ...], rule: str) -> list[Problem]:
    if name in allowed:
        return []
    return [Problem(path, f"{name!r} is not allowed by {rule}; allowed: {', '.join(dict.fromkeys(allowed))}")]


def _choices(run: AgentRun, profile: AgentProfile) -> list[Problem]:
    limits, rule = profile.spec, f"AgentProfile {profile.metadata.name}"
    models = (limits.model.name, *limits.allowed_models)
    classes = (limits.sandbox.class_ref.name, *limits.allowed_classes)
    return [
        *_not_allowed("spec.model.name", _model_of(run, profile), models, rule),
        *_not_allowed("spec.sandbox.classRef.name", class_of(run, profile), classes, rule),
        *_not_allowed(
            f"{rule}: spec.pipeline.title.model", limits.pipeline.title.model or models[0], models, rule
        ),
        *_unpriced(run, profile),
    ]


def _unpriced(run: AgentRun, profile: AgentProfile) -> list[Problem]:
    """A limit that nothing could hold is no limit."""
    if run.spec.limits.max_cost_micro_usd is None or profile.spec.model.price is not None:
        return []
    words = (
        f"AgentProfile {profile.metadata.name} has no model.price, so that nobody knows what the run costs"
    )
    return [Problem("spec.limits.maxCostMicroUSD", words)]


def _script_problems(run: AgentRun, profile: AgentProfile, texts: Texts) -> list[Problem]:
    path, model = "spec.model.script", _model_of(run, profile)
    if model != SCRIPTED:
        given = run.spec.model is not None and run.spec.model.script is not None
        return [Problem(path, f"only the model `{SCRIPTED}` plays a script, not {model!r}")] if given else []
    if _script_of(run, profile, texts).text is not None:
        return []
    where = f"here, or script or scriptRef in AgentProfile {profile.metadata.name}"
    return [Problem(path, f"the model `{SCRIPTED}` needs a script: {where}")]


def _problems(run: AgentRun, profile: AgentProfile, texts: Texts) -> list[Problem]:
    found = _choices(run, profile)
    missing = [need for need in texts_needed(run, profile) if need.at not in texts]
    found += [Problem(n.path, f"there is no ConfigMap {n.ref.name} with key {n.ref.key}") for n in missing]
    if not any(need.path.startswith("AgentProfile") for need in missing):
        found += _script_problems(run, profile, texts)
    if run.spec.prompt is None and run.spec.prompt_from is None:
        found.append(Problem("spec.prompt", "exactly one of prompt and promptFrom is required"))
    elif not _prompt(run, texts).strip() and not any(need.path.startswith("spec.") for need in missing):
        found.append(Problem(_prompt_path(run), "the prompt is empty"))
    return found


def _prompt_path(run: AgentRun) -> str:
    return "spec.prompt" if run.spec.prompt is not None else "spec.promptFrom.configMapKeyRef"


def _prompt(run: AgentRun, texts: Texts) -> str:
    if run.spec.prompt is not None or run.spec.prompt_from is None:
        return run.spec.prompt or ""
    ref = run.spec.prompt_from.config_map_key_ref
    return texts.get((ref.name, ref.key), "")


def _model(run: AgentRun, profile: AgentProfile, texts: Texts) -> DocumentModel:
    own, name = profile.spec.model, _model_of(run, profile)
    chosen = run.spec.model.parameters if run.spec.model else None
    script = _script_of(run, profile, texts) if name == SCRIPTED else None
    return DocumentModel(
        name=name,
        base_url=own.base_url,
        parameters={**(own.parameters or {}), **(chosen or {})},
        vision=own.vision,
        price=own.price,
        script=script.text if script else None,
        script_source=script.source if script else None,
    )


def resolve(
    run: AgentRun, profile: AgentProfile, texts: Texts, *, epoch: int
) -> RunDocument | tuple[Problem, ...]:
    """The document of this epoch, or everything that keeps the run from having one.

    Run and profile are of one namespace, and the run has its UID. `texts` holds what `texts_needed` named; a
    missing one is a problem here, so a caller that can wait looks first. Never raises.
    """
    problems = _problems(run, profile, texts)
    if problems:
        return tuple(problems)
    document = _document(run, profile, texts, epoch)
    too_large = oversize(document, run, profile)
    return (too_large,) if too_large else document


def sketch(profile: AgentProfile) -> RunDocument:
    """The document of a run that asks for nothing of its own: what the profile alone decides. Nothing is checked."""
    meta = ObjectMeta(name="sketch", uid="sketch", namespace=profile.metadata.namespace)
    run = AgentRun(metadata=meta, spec=AgentRunSpec(profile_ref=LocalRef(name=profile.metadata.name)))
    return _document(run, profile, {}, epoch=1)


def _document(run: AgentRun, profile: AgentProfile, texts: Texts, epoch: int) -> RunDocument:
    spec, meta, thread = run.spec, run.metadata, thread_of(run)
    return RunDocument(
        run=DocumentRun(
            namespace=meta.namespace, name=meta.name, uid=meta.uid, generation=meta.generation, epoch=epoch
        ),
        user_id=spec.user_id,
        thread_id=thread,
        profile=profile.metadata.name,
        prompt=_prompt(run, texts),
        system_prompt=profile.spec.system_prompt,
        model=_model(run, profile, texts),
        sandbox=DocumentSandbox(
            sandbox_id=sandbox_id(meta.namespace, spec.user_id, thread),
            class_name=class_of(run, profile),
            acquire=_acquire(run, profile),
            allow_local_bash=profile.spec.sandbox.allow_local_bash,
        ),
        persistence=profile.spec.persistence.type,
        keep_runs=(profile.spec.persistence.volume or StateVolume()).keep_runs,
        privacy=profile.spec.privacy,
        resume=epoch > 1 and has_acted(run),
        tools=_tools(profile.spec),
        mcp_servers=profile.spec.mcp_servers,
        guardrail=profile.spec.guardrail,
        subagents=profile.spec.subagents,
        skills=tuple(DocumentSkill(name=s.name, enabled=s.enabled) for s in profile.spec.skills),
        pipeline=profile.spec.pipeline,
        max_turns=spec.limits.max_turns,
        max_tokens=spec.limits.max_tokens,
        max_cost_micro_usd=spec.limits.max_cost_micro_usd,
    )


def _acquire(run: AgentRun, profile: AgentProfile) -> Acquire:
    if needs_sandbox(profile.spec.mcp_servers):
        return Acquire.EAGER
    chosen = run.spec.sandbox.acquire if run.spec.sandbox else None
    return chosen or profile.spec.sandbox.acquire


def _tools(profile: AgentProfileSpec) -> tuple[ToolName, ...]:
    """In the order of the catalogue, so that the same set of tools is the same request."""
    sees = profile.model.vision and profile.pipeline.view_image.enabled
    enabled = frozenset(ToolName if profile.tools.enabled is None else profile.tools.enabled)
    return tuple(tool for tool in ToolName if tool in enabled and (sees or tool is not ToolName.VIEW_IMAGE))


def document_json(document: RunDocument) -> str:
    """The document as it is carried and measured."""
    return document.model_dump_json(by_alias=True, exclude_none=True)


def oversize(document: RunDocument, run: AgentRun, profile: AgentProfile) -> Problem | None:
    """Whether the document is over its limit, naming the field that weighs most."""
    size = len(document_json(document).encode())
    if size <= DOCUMENT_MAX:
        return None
    source = document.model.script_source or "spec.model.script"
    parts = {
        source: document.model.script or "",
        _prompt_path(run): document.prompt,
        f"AgentProfile {profile.metadata.name}: spec.systemPrompt": document.system_prompt,
        **{
            f"AgentProfile {profile.metadata.name}: spec.subagents.types[{index}].systemPrompt": kind.system_prompt
            for index, kind in enumerate(document.subagents.types)
        },
    }
    path, text = max(parts.items(), key=lambda part: len(part[1].encode()))
    return Problem(
        path,
        f"the run document is {size} bytes, over the limit of {DOCUMENT_MAX}; its largest part is this text "
        f"of {len(text.encode())} bytes",
    )
