"""SandboxClass: what a sandbox Pod looks like and what release means for it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from skerry_api.base import KubeModel, KubeObject
from skerry_api.common import Cidr, EnvVar, Resources, Toleration
from skerry_api.common import ObjectName as Name

__all__ = [
    "Egress",
    "Provider",
    "Release",
    "SandboxClass",
    "SandboxClassSpec",
    "SandboxNetwork",
    "SandboxTemplate",
]

LabelKey = Annotated[str, StringConstraints(max_length=316)]
LabelValue = Annotated[str, StringConstraints(max_length=63)]


class Provider(StrEnum):
    """What acquire and release mean. Pod: a Pod per thread."""

    POD = "Pod"


class Release(StrEnum):
    """Park keeps the Pod until idleSeconds have passed; Destroy deletes it at once."""

    PARK = "Park"
    DESTROY = "Destroy"


class Egress(StrEnum):
    """What a sandbox Pod may reach. Internet is public addresses only."""

    NONE = "None"
    DNS = "DNS"
    INTERNET = "Internet"


class SandboxNetwork(KubeModel):
    egress: Egress = Field(
        default=Egress.NONE,
        description="None, DNS (cluster DNS only) or Internet (public addresses and public resolvers).",
    )
    allow: tuple[Cidr, ...] = Field(
        default=(), max_length=32, description="Further CIDRs that may be reached, all ports."
    )


class SandboxTemplate(KubeModel):
    """The Pod around sandboxd. Its security settings are not open to change."""

    image: str | None = Field(
        default=None,
        min_length=1,
        max_length=1024,
        description="Sandbox image; it must start skerry_sandboxd. The operator's default if absent.",
    )
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = Field(
        default=None, description="As in a Pod's container."
    )
    env: tuple[EnvVar, ...] = Field(
        default=(),
        max_length=64,
        json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        description="Environment of the agent's commands.",
    )
    resources: Resources = Field(
        default=Resources(
            requests={"cpu": "100m", "memory": "128Mi"},
            limits={"cpu": "1", "memory": "1Gi", "ephemeral-storage": "2Gi"},
        ),
        description="Requests and limits of the sandbox container.",
    )
    runtime_class_name: Name | None = Field(
        default=None, description="RuntimeClass, e.g. one for gVisor or Kata."
    )
    node_selector: Annotated[dict[LabelKey, LabelValue], Field(max_length=16)] = Field(
        default_factory=dict, description="Labels of nodes that may run it."
    )
    tolerations: tuple[Toleration, ...] = Field(
        default=(), max_length=16, description="Taints that it tolerates."
    )
    user_namespace: bool = Field(
        default=True, description="Run in a user namespace of its own (hostUsers: false)."
    )


class SandboxClassSpec(KubeModel):
    provider: Provider = Field(default=Provider.POD, description="Pod: a Pod per thread.")
    template: SandboxTemplate = Field(default=SandboxTemplate(), description="The sandbox Pod.")
    network: SandboxNetwork = Field(default=SandboxNetwork(), description="What the sandbox may reach.")
    release: Release = Field(
        default=Release.PARK, description="What happens when the run of a thread has ended."
    )
    idle_seconds: int = Field(
        default=600, ge=1, le=2_592_000, description="How long a parked sandbox is kept unused, in seconds."
    )
    max_lifetime_seconds: int | None = Field(
        default=None,
        ge=60,
        le=31_536_000,
        description="Longest life of a sandbox that nobody holds, in seconds; without it 7 days, or twice idleSeconds if that is more.",
    )
    workspace_size: str = Field(
        default="1Gi",
        max_length=32,
        pattern=r"^[0-9]+(Mi|Gi)$",
        description="Size limit of the thread's files while they live in the Pod.",
    )


class SandboxClass(KubeObject):
    """A kind of sandbox that profiles can allow."""

    KIND: ClassVar[str] = "SandboxClass"
    PLURAL: ClassVar[str] = "sandboxclasses"
    SHORT_NAMES: ClassVar[tuple[str, ...]] = ("sbxc",)

    kind: Literal["SandboxClass"] = "SandboxClass"
    spec: SandboxClassSpec = Field(
        default=SandboxClassSpec(), description="What sandboxes of this class are like."
    )
