"""A run without a Pod: what it waits for, in this order, and at last the Pod."""

from __future__ import annotations

from datetime import datetime, timedelta

from skerry_api.agentprofile import AgentProfile
from skerry_api.document import RunDocument
from skerry_api.phases import FailureClass, RunPhase, WaitReason
from skerry_api.problems import Problem
from skerry_api.resolve import document_json, resolve, texts_needed
from skerry_operator.build.faults import InvalidSpecError
from skerry_operator.build.policies import build_profile_policy, policy_hash
from skerry_operator.build.runner_pod import build_runner_pod
from skerry_operator.plan.actions import Action, ApplyPolicy, CreatePod
from skerry_operator.plan.facts import RunFacts
from skerry_operator.plan.lookup import Broken, Found, Missing, Unknown
from skerry_operator.plan.podwords import refused_words
from skerry_operator.plan.resolve import class_name, text_paths, waiting_reason
from skerry_operator.plan.rules.ending import failed
from skerry_operator.plan.types import Admitted, Plan
from skerry_operator.plan.verdict import Step, Verdict
from skerry_operator.plan.volumes import NotYet, StateGone, taken_up
from skerry_operator.status.reasons import Reason

__all__ = [
    "invalid", "no_class", "no_profile", "no_text", "no_text_yet", "policy_changed", "queued", "refused", "remains", "start", "unprepared",
]  # fmt: skip

SOON = timedelta(seconds=5)
"""When to look again after nobody could say."""


def _waits(
    f: RunFacts, reason: str, message: str, late: FailureClass, wake: datetime | None = None
) -> Verdict:
    return Verdict(f.waiting_phase, reason, message, late=late, wake_at=wake)


def unprepared(f: RunFacts) -> Step | None:
    """Not terminal, and no deadline runs: preparing namespaces is another person's work."""
    if f.started or f.observed.prepared:
        return None
    return Verdict(
        f.waiting_phase, WaitReason.NAMESPACE_NOT_PREPARED,
        f"namespace {f.observed.namespace} is not among the operator's runNamespaces", blocked=True,
    )  # fmt: skip


def no_profile(f: RunFacts) -> Step | None:
    match f.observed.profile:
        case Found():
            return None
        case Missing():
            name = f.run.spec.profile_ref.name
            message = f"spec.profileRef.name: there is no AgentProfile {name}"
            return _waits(f, WaitReason.PROFILE_NOT_FOUND, message, FailureClass.INVALID_SPEC)
        case Broken(detail):
            message = f"spec.profileRef.name: {detail}"
            return _waits(f, WaitReason.PROFILE_UNREADABLE, message, FailureClass.INVALID_SPEC)
        case _:
            return Plan(wake_at=f.now + SOON)


def invalid(f: RunFacts) -> Step | None:
    """What will not come right by waiting: choices that the profile does not allow, a document too large."""
    document = _document(f)
    if isinstance(document, RunDocument):
        return None
    absent = {need.path for need in texts_needed(f.run, _profile(f)) if need.at not in _texts(f)}
    faults = [str(problem) for problem in document if problem.path not in absent]
    return failed(FailureClass.INVALID_SPEC, "; ".join(faults)) if faults else None


def no_class(f: RunFacts) -> Step | None:
    match f.observed.sandbox_class:
        case Found():
            return None
        case Missing():
            name = class_name(f.run, _profile(f))
            message = f"spec.sandbox.classRef.name: there is no SandboxClass {name}"
            return _waits(f, WaitReason.CLASS_NOT_FOUND, message, FailureClass.INVALID_SPEC)
        case Broken(detail):
            message = f"spec.sandbox.classRef.name: {detail}"
            return _waits(f, WaitReason.CLASS_UNREADABLE, message, FailureClass.INVALID_SPEC)
        case _:
            return Plan(wake_at=f.now + SOON)


def no_text(f: RunFacts) -> Step | None:
    """A ConfigMap, or a key in it, is missing; nobody tells when it comes, so we ask ever more seldom."""
    known, unknown = f.observed.texts, False
    for ref, path in text_paths(f.run, _profile(f)).items():
        found = known.get(ref)
        if isinstance(found, Missing):
            message = f"{path}: there is no {found.detail or f'ConfigMap {ref.name}'}"
            return _waits(
                f, WaitReason.CONFIG_MAP_NOT_FOUND, message, FailureClass.INVALID_SPEC, f.now + _patience(f)
            )
        unknown = unknown or not isinstance(found, Found)
    return Plan(wake_at=f.now + SOON) if unknown else None


def no_text_yet(f: RunFacts) -> Step | None:
    """The same before admission, for a run that was found wanting: it takes no place in the queue."""
    return no_text(f) if waiting_reason(f.run) == WaitReason.CONFIG_MAP_NOT_FOUND else None


def queued(f: RunFacts) -> Step | None:
    decision = f.observed.admission
    if f.started or f.phase is RunPhase.PROVISIONING or isinstance(decision, Admitted):
        return None
    if decision is not None:
        queue = (decision.position, decision.reason)
        return Verdict(RunPhase.QUEUED, decision.reason, decision.message, queue=queue)
    if waiting_reason(f.run) in {reason.value for reason in WaitReason}:
        return Verdict(
            f.waiting_phase, Reason.WAITING_FOR_ADMISSION, "everything is there; its turn is being decided"
        )
    return Plan()  # the decision wakes us


def remains(f: RunFacts) -> Step | None:
    """A new epoch starts only when the old Pod object is gone; the same for a former run of this name."""
    if not f.others:
        return None
    names = ", ".join(pod.name for pod in f.others)
    message = f"waits until Pod {names} is gone"
    return _waits(f, Reason.REMAINS, message, FailureClass.STARTUP_TIMEOUT, f.now + SOON)


def refused(f: RunFacts) -> Step | None:
    """The API server did not take the Pod; it is tried again until the start-up deadline."""
    refusal = f.observed.refusal
    if refusal is None:
        return None
    reason, late = refused_words(refusal)
    return Verdict(
        RunPhase.PROVISIONING, reason, refusal.message, late=late, words_vary=True,
        wake_at=f.now + f.settings.retry_refused,
    )  # fmt: skip


def start(f: RunFacts) -> Step | None:
    """Make the Pod of the next epoch; the status follows from seeing it."""
    if not f.observed.live:
        return Plan(needs_live=True)  # before the Pod is built: that costs more than all the rest
    if isinstance(f.observed.profile_policy, Unknown):
        return Plan(wake_at=f.now + SOON)  # an older, wider one may stand
    document, profile = _document(f), _profile(f)
    assert isinstance(document, RunDocument)  # noqa: S101 - `invalid` and `no_text` come before
    try:
        policy = _policy(f, profile)
    except InvalidSpecError as error:
        return failed(FailureClass.INVALID_SPEC, str(error))
    volume = _volume(f, profile)
    if not isinstance(volume, tuple):
        return volume
    pod = build_runner_pod(f.run, profile, f.epoch + 1, document_json(document), f.settings)
    message = f"Pod {pod['metadata']['name']} is being made"
    return Verdict(RunPhase.PROVISIONING, Reason.STARTING, message, before=(*policy, *volume, CreatePod(pod)))


def _volume(f: RunFacts, profile: AgentProfile) -> tuple[Action, ...] | Step:
    """What the thread's volume needs first, or why the Pod can't be made."""
    wanted = profile.spec.persistence.state_volume
    try:
        return taken_up(f.run, wanted, f.observed.volume) if wanted else ()
    except StateGone as why:
        return failed(FailureClass.APP_ERROR, str(why))
    except NotYet as why:
        if not str(why):
            return Plan(wake_at=f.now + SOON)
        return _waits(f, Reason.REMAINS, str(why), FailureClass.STARTUP_TIMEOUT, f.now + SOON)


def policy_changed(f: RunFacts) -> Step | None:
    """The profile's network was changed: its policy follows, for the Pods that are there too."""
    found = f.observed.profile
    unknown = isinstance(f.observed.profile_policy, Unknown)
    if f.pod is None or unknown or not isinstance(found, Found) or f.observed.refusal is not None:
        return None
    try:
        actions = _policy(f, found.value)
    except InvalidSpecError:
        return None  # said where a Pod is made of it; the old policy stands
    return Plan(actions=actions) if actions else None


def _policy(f: RunFacts, profile: AgentProfile) -> tuple[Action, ...]:
    """The profile's NetworkPolicy stands before a Pod that needs it, and is emptied when it has no rules."""
    found = f.observed.profile_policy
    if not profile.spec.runner.network.allow and not isinstance(found, Found):
        return ()
    manifest = build_profile_policy(profile)
    same = isinstance(found, Found) and found.value == policy_hash(manifest)
    return () if same else (ApplyPolicy(manifest),)


def _profile(f: RunFacts) -> AgentProfile:
    assert isinstance(f.observed.profile, Found)  # noqa: S101 - `no_profile` comes before
    return f.observed.profile.value


def _texts(f: RunFacts) -> dict[tuple[str, str], str]:
    texts = f.observed.texts
    return {
        (ref.name, ref.key): each.value
        for ref, each in texts.items()
        if isinstance(each, Found) and not ref.mounted
    }


def _document(f: RunFacts) -> RunDocument | tuple[Problem, ...]:
    return resolve(f.run, _profile(f), _texts(f), epoch=f.epoch + 1)


def _patience(f: RunFacts) -> timedelta:
    waited = f.now - (f.status.epoch_time or f.now)
    return min(max(waited / 2, timedelta(seconds=2)), timedelta(seconds=60))
