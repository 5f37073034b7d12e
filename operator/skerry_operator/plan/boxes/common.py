"""Rules and parts that Sandboxes of threads and standalone ones share."""

from __future__ import annotations

from datetime import timedelta

from skerry_api.phases import FailureClass, SandboxPhase, WaitReason
from skerry_api.sandboxclass import SandboxClass
from skerry_operator.build.faults import InvalidSpecError
from skerry_operator.build.policies import build_class_policy, policy_hash
from skerry_operator.build.sandbox_pod import build_sandbox_pod
from skerry_operator.plan.actions import Action, ApplyPolicy, CreatePod, DeletePod, ProbeIdle
from skerry_operator.plan.boxes.facts import BoxFacts
from skerry_operator.plan.boxes.verdict import BoxStep, BoxVerdict
from skerry_operator.plan.lookup import UNKNOWN, Broken, Found, Missing
from skerry_operator.plan.podview import PodView
from skerry_operator.plan.podwords import Words, refused_words, waiting_words
from skerry_operator.plan.types import Plan

__all__ = ["ask", "being_deleted", "delete", "make_pod", "policy_changed", "starting", "strays", "unprepared"]

SOON = timedelta(seconds=5)


def delete(pod: PodView, grace_seconds: int | None = None) -> DeletePod:
    return DeletePod(pod.namespace, pod.name, pod.uid, grace_seconds)


def being_deleted(b: BoxFacts) -> BoxStep | None:
    """Its Pod goes with it by its ownerReference."""
    return Plan() if b.sandbox.metadata.deletion_timestamp is not None else None


def strays(b: BoxFacts) -> BoxStep | None:
    """A former Sandbox's Pod has the name; it is deleted if need be, and waited out."""
    if not b.others:
        return None
    actions = tuple(delete(pod) for pod in b.others if not pod.terminating)
    return Plan(actions=actions, wake_at=b.now + SOON)


def unprepared(b: BoxFacts) -> BoxStep | None:
    if b.observed.prepared or b.pod is not None or b.status.phase not in {None, SandboxPhase.PENDING}:
        return None
    message = f"namespace {b.observed.namespace} is not among the operator's runNamespaces"
    return BoxVerdict(SandboxPhase.PENDING, WaitReason.NAMESPACE_NOT_PREPARED, message, blocked=True)


def policy_changed(b: BoxFacts) -> BoxStep | None:
    """The class's network was changed: its policy follows, for the Pods that are there too."""
    if b.pod is None or not isinstance(b.kind, Found) or b.observed.refusal is not None:
        return None
    if b.observed.class_policies.get(b.kind.value.metadata.name, UNKNOWN) == UNKNOWN:
        return None
    try:
        actions = _policy(b, b.kind.value)
    except InvalidSpecError:
        return None  # said where a Pod is made of it; the old policy stands
    return Plan(actions=actions) if actions else None


def make_pod(b: BoxFacts) -> BoxStep:
    """The class's policy, then the Pod; or why not yet."""
    if b.observed.refusal is not None:
        return _in_time(b, _refused(b))
    match b.kind:
        case Found(kind):
            pass
        case Missing():
            name = b.sandbox.spec.class_ref.name
            message = f"spec.classRef.name: there is no SandboxClass {name}"
            return _in_time(b, Words(WaitReason.CLASS_NOT_FOUND, message, FailureClass.INVALID_SPEC))
        case Broken(detail):
            message = f"spec.classRef.name: {detail}"
            return _in_time(b, Words(WaitReason.CLASS_UNREADABLE, message, FailureClass.INVALID_SPEC))
        case _:
            return Plan(wake_at=b.now + SOON)
    try:
        pod = build_sandbox_pod(b.sandbox, kind, b.settings)
        return Plan(actions=(*_policy(b, kind), CreatePod(pod)))
    except InvalidSpecError as error:
        return BoxVerdict(SandboxPhase.FAILED, FailureClass.INVALID_SPEC, str(error), live=True)


def starting(b: BoxFacts, pod: PodView) -> BoxStep:
    """The Pod is there and not Ready yet."""
    return _in_time(b, waiting_words(pod))


def ask(b: BoxFacts, pod: PodView) -> ProbeIdle:
    return ProbeIdle(pod.namespace, b.sandbox.metadata.name, pod.uid, b.status.endpoint or "")


def _policy(b: BoxFacts, kind: SandboxClass) -> tuple[Action, ...]:
    manifest = build_class_policy(kind, b.settings)
    found = b.observed.class_policies.get(kind.metadata.name, UNKNOWN)
    same = isinstance(found, Found) and found.value == policy_hash(manifest)
    return () if same else (ApplyPolicy(manifest),)


def _refused(b: BoxFacts) -> Words:
    refusal = b.observed.refusal
    assert refusal is not None  # noqa: S101 - the caller looked
    reason, late = refused_words(refusal)
    return Words(reason, refusal.message, late)


def _in_time(b: BoxFacts, words: Words) -> BoxVerdict:
    if b.now >= b.start_limit:
        seconds = int(b.settings.sandbox_startup.total_seconds())
        message = f"not ready after {seconds} s: {words.message}"
        return BoxVerdict(SandboxPhase.FAILED, words.late, message, live=True)
    wake = b.start_limit if b.pod else min(b.start_limit, b.now + b.settings.retry_refused)
    return BoxVerdict(SandboxPhase.PENDING, words.reason, words.message, words_vary=True, wake_at=wake)
