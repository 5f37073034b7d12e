"""Why a Pod does not start, or how it was lost, in the container's, scheduler's and kubelet's own words."""

from __future__ import annotations

from dataclasses import dataclass

from skerry_api.phases import FailureClass, WaitReason
from skerry_operator.plan.actions import Refusal, RefusalKind
from skerry_operator.plan.podview import NodeState, PodView
from skerry_operator.status.reasons import Reason

__all__ = ["Loss", "Words", "loss_of", "refused_words", "waiting_words"]

_IMAGE = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"}
)  # fmt: skip
_NO_NEWS = frozenset({"", "ContainerCreating", "PodInitializing"})
_NODE_REASONS = frozenset({"DeletionByTaintManager", "DeletionByPodGC"})
_NODE_GONE = frozenset({NodeState.GONE, NodeState.OUT_OF_SERVICE})
_KUBELET_EVICTS = frozenset({"Evicted", "Preempting", "Terminated", "NodeShutdown", "Shutdown"})


@dataclass(frozen=True, slots=True)
class Words:
    """Why a Pod is not running yet, and the class if that lasts beyond the start-up deadline."""

    reason: str
    message: str
    late: FailureClass


@dataclass(frozen=True, slots=True)
class Loss:
    """How a Pod ended, or is ending, without a report."""

    failure: FailureClass
    message: str


def waiting_words(pod: PodView) -> Words:
    scheduled = pod.condition("PodScheduled")
    if scheduled is not None and scheduled.status == "False":
        words = _join(scheduled.reason, scheduled.message)
        return Words(FailureClass.UNSCHEDULABLE, words, FailureClass.UNSCHEDULABLE)
    waiting = pod.container.waiting
    if waiting is None or waiting.reason in _NO_NEWS:
        where = f" on {pod.node}" if pod.node else ""
        return Words(Reason.STARTING, f"Pod {pod.name} is starting{where}", FailureClass.STARTUP_TIMEOUT)
    words = _join(waiting.reason, waiting.message)
    if waiting.reason in _IMAGE:
        return Words(FailureClass.IMAGE_PULL, words, FailureClass.IMAGE_PULL)
    if waiting.reason == "CreateContainerConfigError" and "secret" in waiting.message.lower():
        return Words(WaitReason.SECRET_NOT_FOUND, words, FailureClass.INVALID_SPEC)
    return Words(Reason.CONTAINER_NOT_STARTED, words, FailureClass.STARTUP_TIMEOUT)


def refused_words(refusal: Refusal) -> tuple[str, FailureClass]:
    """The reason of a Pod that the API server did not take, and the class if that lasts."""
    match refusal.kind:
        case RefusalKind.FORBIDDEN:
            return FailureClass.ADMISSION_FORBIDDEN, FailureClass.ADMISSION_FORBIDDEN
        case RefusalKind.INVALID:
            return FailureClass.INVALID_SPEC, FailureClass.INVALID_SPEC
        case RefusalKind.NAME_TAKEN:
            return Reason.REMAINS, FailureClass.STARTUP_TIMEOUT


def loss_of(pod: PodView) -> Loss | None:
    """How the Pod is lost; None while it may still do its work. A report, if there is one, comes before this."""
    if pod.node_state in _NODE_GONE and not pod.finished:
        state = "is gone" if pod.node_state is NodeState.GONE else "is out of service"
        return Loss(FailureClass.NODE_LOST, f"Node {pod.node} {state}")
    if not (pod.terminating or pod.finished or pod.container.terminated):
        return None
    return _disrupted(pod) or _exited(pod) or Loss(FailureClass.POD_LOST, _vanishing(pod))


def _disrupted(pod: PodView) -> Loss | None:
    if pod.reason == "NodeLost":
        return Loss(FailureClass.NODE_LOST, _join(pod.reason, pod.message))
    target = pod.disruption
    if target is not None:
        kind = FailureClass.NODE_LOST if target.reason in _NODE_REASONS else FailureClass.EVICTED
        return Loss(kind, _join(target.reason, target.message))
    if pod.reason in _KUBELET_EVICTS:
        return Loss(FailureClass.EVICTED, _join(pod.reason, pod.message))
    return None


def _exited(pod: PodView) -> Loss | None:
    ended = pod.container.terminated
    if ended is None or ended.reason == "ContainerStatusUnknown":
        return None
    if ended.reason == "OOMKilled":
        return Loss(FailureClass.OOM_KILLED, f"the container of Pod {pod.name} ran out of memory")
    if pod.terminating:
        return None  # somebody deleted it; how it then ended says nothing
    words = _join(ended.reason, ended.message)
    return Loss(
        FailureClass.APP_ERROR,
        f"NoReport: the container of Pod {pod.name} ended with code {ended.exit_code} and without a report"
        + (f": {words}" if words else ""),
    )


def _vanishing(pod: PodView) -> str:
    words = _join(pod.reason, pod.message)
    state = "is being deleted" if pod.terminating else "has failed"
    return f"Pod {pod.name} {state}" + (f": {words}" if words else "")


def _join(reason: str, message: str) -> str:
    return f"{reason}: {message}" if reason and message else reason or message
