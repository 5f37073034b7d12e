"""Sandbox: the place where a thread's commands run. Its name is the sandboxId."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from skerry_api.base import KubeModel, KubeObject, Time, immutable, validations
from skerry_api.common import Conditions, LocalRef, UserName
from skerry_api.phases import SandboxPhase

__all__ = ["Holder", "Sandbox", "SandboxSpec", "SandboxStatus"]


class SandboxSpec(KubeModel):
    """Immutable as a whole."""

    class_ref: LocalRef = Field(description="The SandboxClass that it is made from.")
    user_id: UserName = Field(
        default="default", description="User whose thread this is; a label, not an identity."
    )
    thread_id: UserName = Field(description="The thread that it serves.")
    idle_seconds: int | None = Field(
        default=None, ge=1, le=2_592_000, description="Overrides the class's idleSeconds."
    )
    max_lifetime_seconds: int | None = Field(
        default=None, ge=60, le=31_536_000, description="Overrides the class's maxLifetimeSeconds."
    )

    model_config = KubeModel.model_config | {"json_schema_extra": immutable("whole")}


class Holder(KubeModel):
    """The live run that uses the sandbox."""

    uid: str = Field(max_length=64, description="UID of the AgentRun.")
    name: str = Field(max_length=253, description="Name of the AgentRun.")
    since: Time = Field(description="Since when it holds.")


class SandboxStatus(KubeModel):
    observed_generation: int | None = Field(
        default=None, ge=0, description="Generation that this status was decided on."
    )
    phase: SandboxPhase | None = Field(
        default=None, description="Pending, Ready, Parked, Released, Terminating or Failed."
    )
    pod_name: str | None = Field(default=None, max_length=253, description="Name of its Pod.")
    pod_uid: str | None = Field(
        default=None, alias="podUID", max_length=64, description="UID of its Pod; a replacement has another."
    )
    endpoint: str | None = Field(default=None, max_length=512, description="URL of sandboxd.")
    replacements: int | None = Field(
        default=None, ge=0, description="How often the Pod was replaced under the present holder."
    )
    holder: Holder | None = Field(default=None, description="The run that uses it, derived from live runs.")
    idle_since: Time | None = Field(default=None, description="Since when nobody holds it.")
    mounts_thread_data: bool | None = Field(
        default=None, description="Whether the runner sees the thread's files on a disk of its own."
    )
    conditions: Conditions = Field(default=(), description="Ready and Stalled.")


class Sandbox(KubeObject):
    """A sandbox of a thread, made by the operator or, standalone, by a person."""

    KIND: ClassVar[str] = "Sandbox"
    PLURAL: ClassVar[str] = "sandboxes"
    SHORT_NAMES: ClassVar[tuple[str, ...]] = ("sbx",)

    kind: Literal["Sandbox"] = "Sandbox"
    spec: SandboxSpec = Field(
        description="Which thread it serves and what it is made from. Fixed after creation."
    )
    status: SandboxStatus = Field(default=SandboxStatus(), description="Written by the operator.")

    model_config = KubeModel.model_config | {
        "json_schema_extra": validations("sandbox-name-length", "sandbox-name-label")
    }
