"""The closed vocabularies of status: phases, failure classes, reasons; and which phase may follow which."""

from __future__ import annotations

from enum import StrEnum

__all__ = [
    "ENDPOINT_FAULTS", "RETRIED", "TERMINAL", "TRANSITIONS", "Acquire", "ConditionType", "FailureClass",
    "ModelErrorReason", "OutcomeClass",
    "QueueReason", "RunPhase", "SandboxPhase", "SandboxState", "StopReason", "WaitReason", "may_follow",
]  # fmt: skip


class RunPhase(StrEnum):
    """`status.phase` of an AgentRun: a summary; the conditions carry the truth."""

    PENDING = "Pending"
    QUEUED = "Queued"
    PROVISIONING = "Provisioning"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    TIMED_OUT = "TimedOut"
    CANCELLED = "Cancelled"


TERMINAL = frozenset({RunPhase.SUCCEEDED, RunPhase.FAILED, RunPhase.TIMED_OUT, RunPhase.CANCELLED})

_ENDS = TERMINAL
# A phase may always stay. Provisioning again after Running is a new epoch (a retry).
TRANSITIONS: dict[RunPhase, frozenset[RunPhase]] = {
    RunPhase.PENDING: frozenset({RunPhase.PENDING, RunPhase.QUEUED, RunPhase.PROVISIONING, RunPhase.RUNNING})
    | _ENDS,
    RunPhase.QUEUED: frozenset({RunPhase.QUEUED, RunPhase.PENDING, RunPhase.PROVISIONING, RunPhase.RUNNING})
    | _ENDS,
    RunPhase.PROVISIONING: frozenset({RunPhase.PROVISIONING, RunPhase.RUNNING}) | _ENDS,
    RunPhase.RUNNING: frozenset({RunPhase.RUNNING, RunPhase.PROVISIONING}) | _ENDS,
    **{phase: frozenset({phase}) for phase in _ENDS},
}


def may_follow(old: RunPhase | None, new: RunPhase) -> bool:
    """Whether `new` may stand after `old`; a run without a phase may take any."""
    return old is None or new in TRANSITIONS[old]


class FailureClass(StrEnum):
    """`status.failure.class`: what kind of fault ended the run."""

    STARTUP_TIMEOUT = "StartupTimeout"
    TIMEOUT = "Timeout"
    IMAGE_PULL = "ImagePull"
    UNSCHEDULABLE = "Unschedulable"
    ADMISSION_FORBIDDEN = "AdmissionForbidden"
    OOM_KILLED = "OOMKilled"
    EVICTED = "Evicted"
    NODE_LOST = "NodeLost"
    POD_LOST = "PodLost"
    SANDBOX_LOST = "SandboxLost"
    MODEL_ERROR = "ModelError"
    BUDGET_EXCEEDED = "BudgetExceeded"
    APP_ERROR = "AppError"
    INVALID_SPEC = "InvalidSpec"


RETRIED = frozenset({FailureClass.EVICTED, FailureClass.NODE_LOST, FailureClass.POD_LOST})


class OutcomeClass(StrEnum):
    """`status.runner.outcome.class`: how the runner says its epoch ended. Interrupted is not an end of the run."""

    SUCCEEDED = "Succeeded"
    CANCELLED = "Cancelled"
    INTERRUPTED = "Interrupted"
    MODEL_ERROR = "ModelError"
    BUDGET_EXCEEDED = "BudgetExceeded"
    APP_ERROR = "AppError"
    SANDBOX_LOST = "SandboxLost"
    INVALID_SPEC = "InvalidSpec"


class StopReason(StrEnum):
    """Why a run that was not at fault stopped."""

    END_TURN = "EndTurn"
    LOOP_CAPPED = "LoopCapped"
    """The agent did the same over and over."""
    TOKEN_CAPPED = "TokenCapped"  # noqa: S105 - no password
    """`limits.maxTokens` is used up."""
    SAFETY_CAPPED = "SafetyCapped"
    SUBAGENT_CAPPED = "SubagentCapped"
    """It asked for more subagents than it may have."""
    LENGTH_CAPPED = "LengthCapped"
    TURN_CAPPED = "TurnCapped"


class ModelErrorReason(StrEnum):
    """`status.runner.outcome.reason` of a run that ended as ModelError."""

    QUOTA_EXCEEDED = "QuotaExceeded"
    AUTHENTICATION_FAILED = "AuthenticationFailed"
    BURST_LIMITED = "BurstLimited"
    RATE_LIMITED = "RateLimited"
    CONNECTION_FAILED = "ConnectionFailed"
    TIMED_OUT = "ModelTimeout"
    SERVER_ERROR = "ServerError"
    OVERLOADED = "Overloaded"
    EMPTY_RESPONSE = "EmptyResponse"
    CONTEXT_OVERFLOW = "ContextOverflow"
    CONTENT_FILTERED = "ContentFiltered"
    MODEL_NOT_FOUND = "ModelNotFound"
    INVALID_REQUEST = "InvalidRequest"
    UNCLASSIFIED = "Unclassified"
    CIRCUIT_OPEN = "CircuitOpen"


ENDPOINT_FAULTS = frozenset(
    {
        ModelErrorReason.RATE_LIMITED,
        ModelErrorReason.CONNECTION_FAILED,
        ModelErrorReason.TIMED_OUT,
        ModelErrorReason.SERVER_ERROR,
        ModelErrorReason.OVERLOADED,
        ModelErrorReason.EMPTY_RESPONSE,
    }
)
"""Reasons that speak of the endpoint's health, not of the request: these alone open a circuit."""


class WaitReason(StrEnum):
    """Reasons of conditions for runs that wait for something a person must bring."""

    PROFILE_NOT_FOUND = "ProfileNotFound"
    CLASS_NOT_FOUND = "SandboxClassNotFound"
    CONFIG_MAP_NOT_FOUND = "ConfigMapNotFound"
    SECRET_NOT_FOUND = "SecretNotFound"  # noqa: S105 - the name of a reason
    NAMESPACE_NOT_PREPARED = "NamespaceNotPrepared"


class QueueReason(StrEnum):
    """`status.queue.reason`: what a Queued run waits for."""

    THREAD_BUSY = "ThreadBusy"
    NAMESPACE_LIMIT = "NamespaceLimit"
    SANDBOX_CLASS_CONFLICT = "SandboxClassConflict"


class ConditionType(StrEnum):
    READY = "Ready"
    RECONCILING = "Reconciling"
    STALLED = "Stalled"
    SUCCEEDED = "Succeeded"


class SandboxPhase(StrEnum):
    """`status.phase` of a Sandbox."""

    PENDING = "Pending"
    READY = "Ready"
    PARKED = "Parked"
    RELEASED = "Released"
    TERMINATING = "Terminating"
    FAILED = "Failed"


class SandboxState(StrEnum):
    """`status.sandbox.state` of an AgentRun: the sandbox as this run sees it."""

    PENDING = "Pending"
    READY = "Ready"
    REPLACING = "Replacing"
    RELEASED = "Released"
    LOST = "Lost"


class Acquire(StrEnum):
    """When a run gets its sandbox: at the first sandbox tool call, or together with the runner."""

    LAZY = "Lazy"
    EAGER = "Eager"
