"""AgentRun: one big model-and-tools loop, and everything a person needs to know about it."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from skerry_api.agentprofile import SCRIPT_MAX
from skerry_api.base import KubeModel, KubeObject, Time, immutable, list_map, mutable, validations
from skerry_api.common import Conditions, ConfigMapKeySource, LocalRef, ModelName, Parameters, UserName
from skerry_api.files import RunFiles
from skerry_api.phases import Acquire, FailureClass, QueueReason, RunPhase, SandboxState, StopReason
from skerry_api.report import QUESTION_ID_MAX, RunnerStatus

__all__ = [
    "ANSWERS_MAX", "ANSWER_TEXT_MAX", "RUNNER_FIELDS", "AgentRun", "AgentRunSpec", "AgentRunStatus", "Answer", "Failure", "Limits", "ProfileUsed", "Queue", "RunModel", "RunSandbox", "SandboxUse",
]  # fmt: skip

RUNNER_FIELDS = frozenset({"sandboxId", "runner"})
"""Keys of status that the runner owns; all others are the operator's."""


ANSWERS_MAX = 64
ANSWER_TEXT_MAX = 8192
"""Longest answer to a question, in characters."""


class Answer(KubeModel):
    """An answer to a question of the agent. Once given it stands: it may be taken away, not changed."""

    question_id: str = Field(
        min_length=1,
        max_length=QUESTION_ID_MAX,
        description="Id of the question, as status.runner.question has it.",
    )
    text: str = Field(min_length=1, max_length=ANSWER_TEXT_MAX, description="What the agent is told.")

    model_config = KubeModel.model_config | {"json_schema_extra": immutable("fields")}


class RunModel(KubeModel):
    """A model among those that the profile allows; endpoint and key stay the profile's."""

    name: ModelName | None = Field(
        default=None, description="One of the profile's models; the profile's own if absent."
    )
    parameters: Parameters | None = Field(default=None, description="Laid over the profile's parameters.")
    script: str | None = Field(
        default=None,
        max_length=SCRIPT_MAX,
        description="Script for the model `scripted`, as YAML; instead of the profile's.",
    )


class RunSandbox(KubeModel):
    class_ref: LocalRef | None = Field(
        default=None, description="A SandboxClass that the profile allows; the profile's own if absent."
    )
    acquire: Acquire | None = Field(default=None, description="Lazy or Eager; the profile's if absent.")


class Limits(KubeModel):
    """What ends a run early."""

    startup_deadline_seconds: int = Field(
        default=600,
        ge=1,
        le=86_400,
        description="Longest time from admission to Running, in seconds, anew for each epoch.",
    )
    active_deadline_seconds: int = Field(
        default=3600,
        ge=1,
        le=2_592_000,
        description="Longest time Running, in seconds, not counting the wait for input; then TimedOut.",
    )
    max_turns: int = Field(
        default=100, ge=1, le=10_000, description="Most calls of the model; then Succeeded with TurnCapped."
    )
    max_tokens: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000_000_000,
        description="Once so many tokens are used, subagents and internal calls included, no further call is made: "
        "Succeeded with TokenCapped. The last call may go over it. No limit if absent.",
    )
    max_cost_micro_usd: int | None = Field(
        default=None,
        alias="maxCostMicroUSD",
        ge=1,
        le=1_000_000_000_000,
        description="Once the run has cost so many millionths of a US dollar, no further call is made: Failed with "
        "BudgetExceeded. The last call may go over it. Needs the profile's model.price. No limit if absent.",
    )


class AgentRunSpec(KubeModel):
    """Immutable but for the fields that say so."""

    profile_ref: LocalRef = Field(
        description="The AgentProfile that says which models, tools and sandboxes the run may use."
    )
    prompt: str | None = Field(
        default=None,
        min_length=1,
        max_length=65_536,
        description="What the agent is asked to do; either this or promptFrom.",
    )
    prompt_from: ConfigMapKeySource | None = Field(
        default=None, description="ConfigMap that holds the prompt; either this or prompt."
    )
    files: RunFiles = Field(
        default=(), description="Files for the agent, in /mnt/user-data/uploads of its sandbox."
    )
    user_id: UserName = Field(
        default="default",
        description="For whom it runs: a name given by whoever creates the run, not an authenticated identity.",
    )
    thread_id: UserName | None = Field(
        default=None,
        description="The conversation that it belongs to, whose runs go one after the other; without one the run is its own thread.",
    )
    model: RunModel | None = Field(default=None, description="Choices within the profile's models.")
    sandbox: RunSandbox | None = Field(default=None, description="Choices within the profile's sandboxes.")
    limits: Limits = Field(default=Limits(), description="What ends the run early.")
    retries: int = Field(
        default=2, ge=0, le=5, description="How often a run is started again after an infrastructure failure."
    )
    cancel: bool = Field(
        default=False,
        json_schema_extra=mutable(),
        description="Ends the run; latched in status, so that taking it back changes nothing. May be changed.",
    )
    answers: tuple[Answer, ...] = Field(
        default=(), max_length=ANSWERS_MAX, json_schema_extra=mutable(**list_map("questionId")),
        description="Answers to the agent's questions. May grow and shrink; the text of one can't be changed.",
    )  # fmt: skip
    ttl_seconds_after_finished: int | None = Field(
        default=None, ge=0, le=31_536_000, json_schema_extra=mutable(),
        description="Deletes the run this long after its end, in seconds; never if absent. Not for runs declared in Git, which would come back. May be changed.",
    )  # fmt: skip

    model_config = KubeModel.model_config | {"json_schema_extra": immutable("fields", "one-prompt")}


class Failure(KubeModel):
    class_: FailureClass = Field(alias="class", description="Kind of the fault.")
    message: str = Field(
        default="", max_length=4096, description="What happened, in the words of whoever noticed."
    )


class Queue(KubeModel):
    position: int = Field(ge=1, description="Place in the queue; exact to 10, then in steps.")
    reason: QueueReason = Field(description="What it waits for.")


class ProfileUsed(KubeModel):
    uid: str = Field(max_length=64, description="UID of the profile that the current epoch was made from.")
    generation: int = Field(
        ge=0, description="Generation of the profile that the current epoch was made from."
    )


class SandboxUse(KubeModel):
    """The run's sandbox, as the operator gives it to the runner."""

    name: str = Field(max_length=253, description="Name of the Sandbox, which is the sandboxId.")
    state: SandboxState = Field(description="Pending, Ready, Replacing, Released or Lost.")
    class_name: str | None = Field(
        default=None,
        max_length=253,
        description="SandboxClass that it was made from; a replacement is made from it too, whatever the profile says by then.",
    )
    pod_uid: str | None = Field(
        default=None, alias="podUID", max_length=64, description="UID of the sandbox Pod."
    )
    replacements: int = Field(default=0, ge=0, description="How often the Pod was replaced under this run.")
    endpoint: str | None = Field(default=None, max_length=512, description="URL of sandboxd.")
    grant: str | None = Field(
        default=None,
        max_length=4096,
        description="Token bound to the runner's key; worth nothing without it.",
    )


class AgentRunStatus(KubeModel):
    """Two writers, each with its own fields: the runner `sandboxId` and `runner`, the operator all else."""

    observed_generation: int | None = Field(
        default=None, ge=0, description="Generation that this status was decided on."
    )
    phase: RunPhase | None = Field(
        default=None, description="Summary of its state; the conditions carry the truth."
    )
    stop_reason: StopReason | None = Field(default=None, description="Why a run that succeeded stopped.")
    failure: Failure | None = Field(default=None, description="What ended a run that failed.")
    conditions: Conditions = Field(default=(), description="Ready, Reconciling, Stalled and Succeeded.")
    queue: Queue | None = Field(default=None, description="Its place while Queued.")
    epoch: int | None = Field(
        default=None, ge=0, description="Number of the current runner Pod; fences the ones before."
    )
    attempts: int | None = Field(
        default=None, ge=0, description="Runner Pods started because of a failure, the first one included."
    )
    pod_name: str | None = Field(default=None, max_length=253, description="Name of the current runner Pod.")
    pod_uid: str | None = Field(
        default=None, alias="podUID", max_length=64, description="UID of the current runner Pod."
    )
    thread_id: str | None = Field(
        default=None, max_length=128, description="The thread; the run's UID if it named none."
    )
    profile: ProfileUsed | None = Field(default=None, description="The profile as used by the current epoch.")
    start_time: Time | None = Field(default=None, description="When the run was admitted.")
    epoch_time: Time | None = Field(
        default=None,
        description="Since when the run has been starting, anew for each epoch and after the queue; the start-up deadline counts from here.",
    )
    running_time: Time | None = Field(default=None, description="When the run was first Running.")
    paused_since: Time | None = Field(
        default=None, description="Since when it awaits input, which stops the active deadline."
    )
    paused_seconds: int | None = Field(
        default=None,
        ge=0,
        description="How long it has awaited input before, in all; the deadline moved as far.",
    )
    completion_time: Time | None = Field(default=None, description="When it ended.")
    deadline: Time | None = Field(default=None, description="When the deadline now in force ends it.")
    cancelled: bool | None = Field(default=None, description="Set once spec.cancel was seen.")
    sandbox: SandboxUse | None = Field(default=None, description="The sandbox, once asked for.")
    sandbox_id: str | None = Field(
        default=None, max_length=253, description="The sandbox the runner works in. Written by the runner."
    )
    runner: RunnerStatus | None = Field(
        default=None, description="The runner's report. Written by the runner."
    )


class AgentRun(KubeObject):
    """One run of an agent: a loop of model and tools that begins when it is applied and ends once."""

    KIND: ClassVar[str] = "AgentRun"
    PLURAL: ClassVar[str] = "agentruns"
    SHORT_NAMES: ClassVar[tuple[str, ...]] = ("ar",)

    kind: Literal["AgentRun"] = "AgentRun"
    spec: AgentRunSpec = Field(
        description="What to run and within which limits. Fixed after creation but for the fields that say so."
    )
    status: AgentRunStatus = Field(
        default=AgentRunStatus(), description="What became of it; written by the operator and the runner."
    )

    model_config = KubeModel.model_config | {
        "json_schema_extra": validations("run-name-length", "run-name-label", "terminal-phase")
    }
