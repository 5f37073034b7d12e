"""AgentProfile: what a run may use (model, key, tools, sandbox classes); written by a platform team."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from skerry_api.base import KubeModel, KubeObject, validations
from skerry_api.common import (
    Cidr,
    ConfigMapKeySource,
    LocalRef,
    ModelName,
    ObjectName,
    Parameters,
    Resources,
    SecretKeyRef,
)
from skerry_api.guardrail import Guardrail
from skerry_api.mcp import McpServers
from skerry_api.persistence import Persistence
from skerry_api.phases import Acquire
from skerry_api.pipeline import PipelineSettings
from skerry_api.privacy import Privacy
from skerry_api.skills import ProfileSkills
from skerry_api.subagents import Subagents
from skerry_api.toolname import ToolName

__all__ = [
    "SCRIPT_MAX", "AgentProfile", "AgentProfileSpec", "ModelPrice", "ProfileModel", "ProfileSandbox", "ProfileTools", "RunnerNetwork", "RunnerSettings", "ToolName",
]  # fmt: skip

SCRIPT_MAX = 131_072
"""Longest inline script, in characters."""


class ModelPrice(KubeModel):
    """What tokens cost, in millionths of a US dollar for a million of them: 2500000 is $2.50."""

    input_micro_usd_per_million: int = Field(
        default=0, alias="inputMicroUSDPerMillion", ge=0, le=1_000_000_000_000, description="Input tokens."
    )
    output_micro_usd_per_million: int = Field(
        default=0, alias="outputMicroUSDPerMillion", ge=0, le=1_000_000_000_000, description="Output tokens."
    )


class ProfileModel(KubeModel):
    """The model that runs of this profile use unless they pick another allowed one."""

    name: ModelName = Field(
        description="`scripted`, or `provider:model` as LangChain's init_chat_model takes it."
    )
    base_url: str | None = Field(
        default=None,
        max_length=2048,
        pattern=r"^https?://",
        description="Endpoint for OpenAI-compatible servers.",
    )
    api_key_secret_ref: SecretKeyRef | None = Field(
        default=None, description="Secret that holds the key; it reaches the runner Pod alone."
    )
    parameters: Parameters | None = Field(
        default=None, description="Model parameters; numbers and booleans as strings."
    )
    vision: bool = Field(
        default=False,
        description="Whether the profile's models see images: the agent may then show them some.",
    )
    price: ModelPrice | None = Field(
        default=None,
        description="What it costs, for status.runner.usage and limits.maxCostMicroUSD; whichever allowed model a "
        "run names, this is its price.",
    )
    script: str | None = Field(
        default=None, max_length=SCRIPT_MAX, description="Script for the model `scripted`, as YAML."
    )
    script_ref: ConfigMapKeySource | None = Field(
        default=None, description="ConfigMap that holds the script."
    )

    model_config = KubeModel.model_config | {"json_schema_extra": validations("one-script")}


class ProfileSandbox(KubeModel):
    """Which sandbox runs of this profile get."""

    class_ref: LocalRef = Field(
        default=LocalRef(name="default"),
        description="SandboxClass used unless the run picks another allowed one.",
    )
    acquire: Acquire = Field(
        default=Acquire.LAZY,
        description="Lazy: at the first sandbox tool call. Eager: together with the runner.",
    )
    allow_local_bash: bool = Field(
        default=False,
        description="Whether `skerry run` on a laptop may run bash without a sandbox around it.",
    )


class ProfileTools(KubeModel):
    """Which tools the agent gets."""

    enabled: tuple[ToolName, ...] | None = Field(
        default=None,
        max_length=64,
        json_schema_extra={"x-kubernetes-list-type": "set"},
        description="Names of tools; all of them if absent, none if empty.",
    )


class RunnerNetwork(KubeModel):
    allow: tuple[Cidr, ...] = Field(
        default=(), max_length=32, description="Further CIDRs that runner Pods may reach, all ports."
    )


class RunnerSettings(KubeModel):
    """The runner Pod of this profile's runs."""

    image: str | None = Field(
        default=None,
        max_length=1024,
        min_length=1,
        description="Runner image; the operator's default if absent.",
    )
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = Field(
        default=None, description="As in a Pod's container."
    )
    resources: Resources | None = Field(
        default=None, description="Requests and limits of the runner container."
    )
    network: RunnerNetwork = Field(
        default=RunnerNetwork(), description="What runner Pods may reach beyond the default."
    )


class AgentProfileSpec(KubeModel):
    model: ProfileModel = Field(description="The model and where its key stands.")
    system_prompt: str = Field(default="", max_length=65_536, description="System prompt of the agent.")
    allowed_models: tuple[ModelName, ...] = Field(
        default=(),
        max_length=64,
        json_schema_extra={"x-kubernetes-list-type": "set"},
        description="Further models that a run may name.",
    )
    allowed_classes: tuple[ObjectName, ...] = Field(
        default=(),
        max_length=64,
        json_schema_extra={"x-kubernetes-list-type": "set"},
        description="Further SandboxClasses that a run may name.",
    )
    persistence: Persistence = Field(
        default=Persistence(), description="Where the state of a thread is kept between runs and retries."
    )
    sandbox: ProfileSandbox = Field(
        default=ProfileSandbox(), description="The sandbox of this profile's runs."
    )
    tools: ProfileTools = Field(default=ProfileTools(), description="The agent's tools.")
    mcp_servers: McpServers = Field(default=(), description="MCP servers whose tools the agent gets.")
    guardrail: Guardrail | None = Field(
        default=None, description="Who decides which calls of tools are made; nobody if absent."
    )
    subagents: Subagents = Field(
        default=Subagents(), description="Agents that the run's own agent may hand work to."
    )
    skills: ProfileSkills = Field(
        default=(), description="Skills that the agent can use, from ConfigMaps of the profile's namespace."
    )
    pipeline: PipelineSettings = Field(
        default=PipelineSettings(), description="Settings of the middlewares around the agent's steps."
    )
    runner: RunnerSettings = Field(default=RunnerSettings(), description="The runner Pod.")
    privacy: Privacy = Field(
        default=Privacy.FULL,
        description="References keeps questions, final answers, titles and todos out of the runs' status.",
    )
    runner_pod_retention_seconds: int = Field(
        default=3600,
        ge=0,
        le=2_592_000,
        description="How long a finished runner Pod is kept for its logs, in seconds.",
    )

    model_config = KubeModel.model_config | {
        "json_schema_extra": validations("memory-kept", "memory-debounced")
    }


class AgentProfile(KubeObject):
    """A named set of rules for runs: model, tools, sandbox."""

    KIND: ClassVar[str] = "AgentProfile"
    PLURAL: ClassVar[str] = "agentprofiles"
    SHORT_NAMES: ClassVar[tuple[str, ...]] = ("ap",)

    kind: Literal["AgentProfile"] = "AgentProfile"
    spec: AgentProfileSpec = Field(description="What runs of this profile may use.")
