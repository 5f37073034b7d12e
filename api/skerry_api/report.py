"""What the runner says of itself: `status.runner`, and the same in short as the Pod's termination message."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from skerry_api.base import KubeModel
from skerry_api.phases import OutcomeClass, QuestionType, StopReason
from skerry_api.privacy import TextRef

__all__ = [
    "ANSWER_MAX",
    "ARTIFACTS_MAX",
    "JOURNAL_FAULT_MAX",
    "OPTIONS_MAX",
    "OPTION_MAX",
    "QUESTION_CONTEXT_MAX",
    "QUESTION_ID_MAX",
    "QUESTION_MAX",
    "TERMINATION_MAX",
    "TITLE_MAX",
    "Outcome",
    "Progress",
    "Question",
    "RunArtifact",
    "RunnerStatus",
    "SandboxRequest",
    "TerminationReport",
    "TodoProgress",
    "TodoStatus",
    "Tokens",
    "Usage",
]

ANSWER_MAX = 8192
"""Longest answer in status, in bytes of UTF-8 (the schema counts characters, so bytes are the tighter bound)."""
TITLE_MAX = 200
"""Longest title in status, in characters."""
ARTIFACTS_MAX = 64
"""Most artifacts in status."""
TODOS_MAX = 32
"""Most todos in status."""
TODO_MAX = 200
"""Longest todo in status, in characters."""
QUESTION_MAX = 2048
"""Longest question, in characters."""
QUESTION_CONTEXT_MAX = 2048
"""Longest text that explains a question, in characters."""
OPTIONS_MAX = 16
"""Most options of a question."""
OPTION_MAX = 200
"""Longest option, in characters."""
QUESTION_ID_MAX = 64
JOURNAL_FAULT_MAX = 512
"""Longest word about a journal that can't be written, in characters."""
TERMINATION_MAX = 4096
"""Longest termination message that a kubelet keeps, in bytes."""


class SandboxRequest(KubeModel):
    """The runner asks for its sandbox; the key proves later that it was it."""

    epoch: int = Field(ge=1, description="Epoch that asks.")
    public_key: str = Field(max_length=128, description="Ed25519 public key, base64url without padding.")


class TodoStatus(StrEnum):
    PENDING = "Pending"
    IN_PROGRESS = "InProgress"
    COMPLETED = "Completed"


class TodoProgress(KubeModel):
    """One entry of the agent's list of todos."""

    content: str = Field(max_length=TODO_MAX, description="What is to be done, cut to 200 characters.")
    status: TodoStatus = Field(description="Pending, InProgress or Completed.")


class Progress(KubeModel):
    turn: int = Field(default=0, ge=0, description="Turns so far.")
    model_calls: int = Field(default=0, ge=0, description="Model calls so far.")
    tool_calls: int = Field(
        default=0, ge=0, description="Tool calls so far; 1 is reported before the first is made."
    )
    title: str | None = Field(
        default=None,
        max_length=TITLE_MAX,
        description="What the thread is about; absent before it has a title.",
    )
    todos: tuple[TodoProgress, ...] | None = Field(
        default=None,
        max_length=TODOS_MAX,
        json_schema_extra={"x-kubernetes-list-type": "atomic"},
        description="The agent's list of todos, the first 32 of them; absent without one.",
    )


class Tokens(KubeModel):
    """Tokens of one call or of several, as the provider counted them; estimated where it did not."""

    input: int = Field(default=0, ge=0, description="Input tokens.")
    output: int = Field(default=0, ge=0, description="Output tokens.")
    total: int = Field(default=0, ge=0, description="All tokens.")


class Usage(Tokens):
    """What a run has used, over all its epochs."""

    subagents: int = Field(default=0, ge=0, description="Tokens of subagents, a part of total.")
    internal: int = Field(
        default=0, ge=0, description="Tokens of calls for titles, summaries and memory, a part of total."
    )
    cost_micro_usd: int | None = Field(
        default=None,
        alias="costMicroUSD",
        ge=0,
        description="Cost by the profile's prices, in millionths of a US dollar, rounded up; absent without prices.",
    )


class RunArtifact(KubeModel):
    """A file that the agent presented as a result, as it was when it was presented."""

    path: str = Field(max_length=1024, description="Where it is in the sandbox.")
    size: int = Field(ge=0, description="Bytes.")
    media_type: str = Field(max_length=255, description="Guessed from its name.")
    sha256: str | None = Field(
        default=None,
        pattern="^[0-9a-f]{64}$",
        max_length=64,
        description="SHA-256 in hex; absent for a file above 64 MiB.",
    )
    available: bool = Field(description="Whether a copy is kept that `skerry artifacts` can fetch.")


class Outcome(KubeModel):
    """How the runner's epoch ended."""

    class_: OutcomeClass = Field(
        alias="class",
        description="Succeeded, Cancelled, Interrupted, AwaitingInput or the class of the failure.",
    )
    reason: str = Field(
        default="", max_length=64, description="CamelCase word that tells more, e.g. ScriptMismatch."
    )
    endpoint: str | None = Field(
        default=None, max_length=2048, description="Model endpoint at fault, without credentials."
    )
    message: str = Field(default="", max_length=2048, description="Sentence for people.")


class Question(KubeModel):
    """What the agent asks; `spec.answers` answers it under the same id."""

    id: str = Field(
        min_length=1,
        max_length=QUESTION_ID_MAX,
        description="Name of the question: questionId of its answer.",
    )
    type: QuestionType = Field(description="Why the agent asks.")
    text: str | None = Field(
        default=None,
        max_length=QUESTION_MAX,
        description="The question; absent where the profile's privacy is References.",
    )
    text_ref: TextRef | None = Field(default=None, description="Where the question stands instead.")
    context: str | None = Field(
        default=None, max_length=QUESTION_CONTEXT_MAX, description="What one should know to answer it."
    )
    options: tuple[Annotated[str, Field(min_length=1, max_length=OPTION_MAX)], ...] = Field(
        default=(),
        max_length=OPTIONS_MAX,
        json_schema_extra={"x-kubernetes-list-type": "atomic"},
        description="Answers that the agent proposes; any other text will do as well.",
    )


class RunnerStatus(KubeModel):
    """`status.runner`: owned and written by the runner Pod of the current epoch."""

    epoch: int = Field(ge=1, description="Epoch that reports.")
    pod_uid: str = Field(alias="podUID", max_length=64, description="UID of the Pod that reports.")
    node: str | None = Field(default=None, max_length=253, description="Node it runs on.")
    sandbox_request: SandboxRequest | None = Field(
        default=None, description="Set when the agent first needs a sandbox."
    )
    progress: Progress | None = Field(default=None, description="Counters, at most one write in 15 seconds.")
    usage: Usage | None = Field(default=None, description="Tokens used.")
    question: Question | None = Field(
        default=None, description="The question that waits for an answer; gone once it was taken."
    )
    answer: str | None = Field(
        default=None, max_length=ANSWER_MAX, description="The final answer, cut to 8 KiB."
    )
    answer_ref: TextRef | None = Field(
        default=None,
        description="Where the final answer stands instead, where the profile's privacy is References.",
    )
    artifacts: tuple[RunArtifact, ...] | None = Field(
        default=None,
        max_length=ARTIFACTS_MAX,
        json_schema_extra={"x-kubernetes-list-type": "atomic"},
        description="Files that the agent presented as results, the newest 64 of them.",
    )
    journal_fault: str | None = Field(
        default=None,
        max_length=JOURNAL_FAULT_MAX,
        description="What is wrong with the journal: lines that can't be written, or may not outlive a crash; the run goes on.",
    )
    outcome: Outcome | None = Field(default=None, description="Set once, at the end of the epoch.")
    stop_reason: StopReason | None = Field(default=None, description="Why a successful run stopped.")


class TerminationReport(KubeModel):
    """Second way home for the outcome, ≤4096 bytes of JSON: read by the operator when no status arrived."""

    run_uid: str = Field(alias="runUID")
    epoch: int
    outcome: Outcome
    stop_reason: StopReason | None = None
    progress: Progress | None = None
    usage: Usage | None = None
    question: Question | None = None
    answer: str | None = None
    answer_ref: TextRef | None = None
    artifacts: tuple[RunArtifact, ...] | None = Field(default=None, max_length=ARTIFACTS_MAX)
    journal_fault: str | None = Field(default=None, max_length=JOURNAL_FAULT_MAX)
