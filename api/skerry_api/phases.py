"""The closed vocabularies of status: phases, failure classes, reasons; and which phase may follow which."""

from __future__ import annotations

from enum import StrEnum

__all__ = [
    "ENDPOINT_FAULTS", "PAUSES", "RETRIED", "TERMINAL", "TRANSITIONS", "Acquire", "ConditionType", "FailureClass",
    "ModelErrorReason", "OutcomeClass",
    "QuestionType", "QueueReason", "RunPhase", "SandboxPhase", "SandboxState", "StopReason", "WaitReason", "may_follow",
]  # fmt: skip


class RunPhase(StrEnum):
    """`status.phase` of an AgentRun: a summary; the conditions carry the truth."""

    PENDING = "Pending"
    QUEUED = "Queued"
    PROVISIONING = "Provisioning"
    RUNNING = "Running"
    AWAITING_INPUT = "AwaitingInput"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    TIMED_OUT = "TimedOut"
    CANCELLED = "Cancelled"


TERMINAL = frozenset({RunPhase.SUCCEEDED, RunPhase.FAILED, RunPhase.TIMED_OUT, RunPhase.CANCELLED})

_ENDS = TERMINAL
# Once a Pod was seen to start. An operator that was away may see the question before it saw the run Running.
_BEGUN = frozenset({RunPhase.PROVISIONING, RunPhase.RUNNING, RunPhase.AWAITING_INPUT})
# A phase may always stay. Provisioning again after Running or AwaitingInput is a new epoch (a retry, an answer).
TRANSITIONS: dict[RunPhase, frozenset[RunPhase]] = {
    RunPhase.PENDING: frozenset({RunPhase.PENDING, RunPhase.QUEUED}) | _BEGUN | _ENDS,
    RunPhase.QUEUED: frozenset({RunPhase.QUEUED, RunPhase.PENDING}) | _BEGUN | _ENDS,
    RunPhase.PROVISIONING: _BEGUN | _ENDS,
    RunPhase.RUNNING: _BEGUN | _ENDS,
    RunPhase.AWAITING_INPUT: _BEGUN | _ENDS,
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
    """`status.runner.outcome.class`: how the runner says its epoch ended. See PAUSES for those that don't end the run."""

    SUCCEEDED = "Succeeded"
    CANCELLED = "Cancelled"
    INTERRUPTED = "Interrupted"
    AWAITING_INPUT = "AwaitingInput"
    """The agent asked a question; its answer starts another epoch."""
    MODEL_ERROR = "ModelError"
    BUDGET_EXCEEDED = "BudgetExceeded"
    APP_ERROR = "AppError"
    SANDBOX_LOST = "SandboxLost"
    INVALID_SPEC = "InvalidSpec"


PAUSES = frozenset({OutcomeClass.INTERRUPTED, OutcomeClass.AWAITING_INPUT})
"""Outcomes after which the run may go on with another epoch."""


class QuestionType(StrEnum):
    """`status.runner.question.type`: why the agent asks."""

    MISSING_INFO = "MissingInfo"
    AMBIGUOUS_REQUIREMENT = "AmbiguousRequirement"
    APPROACH_CHOICE = "ApproachChoice"
    RISK_CONFIRMATION = "RiskConfirmation"
    SUGGESTION = "Suggestion"


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
    PROFILE_UNREADABLE = "ProfileUnreadable"
    CLASS_NOT_FOUND = "SandboxClassNotFound"
    CLASS_UNREADABLE = "SandboxClassUnreadable"
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
    JOURNAL_COMPLETE = "JournalComplete"
    """There, and False, only when lines of the journal could not be written."""


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
