"""Small types that several kinds share: references, names, conditions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from skerry_api.base import KubeModel, Time, list_map, validations

__all__ = [
    "Cidr",
    "Condition",
    "Conditions",
    "ConfigMapKeyRef",
    "ConfigMapKeySource",
    "EnvVar",
    "LocalRef",
    "ModelName",
    "ObjectName",
    "Parameters",
    "Quantities",
    "Resources",
    "RunName",
    "SecretKeyRef",
    "Toleration",
    "UserName",
]  # fmt: skip

DNS_LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
DNS_SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"

RunName = Annotated[str, StringConstraints(min_length=1, max_length=52, pattern=DNS_LABEL)]
ObjectName = Annotated[str, StringConstraints(min_length=1, max_length=253, pattern=DNS_SUBDOMAIN)]
UserName = Annotated[
    str, StringConstraints(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9][A-Za-z0-9._@:/-]*$")
]
ModelName = Annotated[
    str, StringConstraints(min_length=1, max_length=253, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@-]*$")
]
Cidr = Annotated[
    str,
    StringConstraints(min_length=3, max_length=64, pattern=r"^[0-9a-fA-F.:]+/[0-9]{1,3}$"),
    Field(json_schema_extra=validations("cidr")),
]
Quantity = Annotated[
    str,
    StringConstraints(
        min_length=1, max_length=32, pattern=r"^[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi|E|Ei)?$"
    ),
]
ResourceName = Annotated[str, StringConstraints(max_length=253)]
ConfigKey = Annotated[str, StringConstraints(min_length=1, max_length=253, pattern=r"^[-._a-zA-Z0-9]+$")]
EnvName = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
# Strings only: no floats in the API. The runner parses each value as JSON where it can ("0.2" → 0.2).
Parameters = Annotated[
    dict[
        Annotated[str, StringConstraints(max_length=64)], Annotated[str, StringConstraints(max_length=1024)]
    ],
    Field(max_length=32),
]
Quantities = Annotated[dict[ResourceName, Quantity], Field(max_length=16)]


class LocalRef(KubeModel):
    """A reference by name to an object of the same namespace."""

    name: ObjectName = Field(description="Name of the object, in the namespace of the one that refers to it.")


class ConfigMapKeyRef(KubeModel):
    name: ObjectName = Field(description="Name of the ConfigMap.")
    key: ConfigKey = Field(description="Key in its data.")


class ConfigMapKeySource(KubeModel):
    """A text that stands in a ConfigMap."""

    config_map_key_ref: ConfigMapKeyRef = Field(description="The ConfigMap and key that hold the text.")


class SecretKeyRef(KubeModel):
    name: ObjectName = Field(description="Name of the Secret.")
    key: ConfigKey = Field(description="Key in its data.")


class EnvVar(KubeModel):
    """A literal environment variable; never a Secret."""

    name: EnvName = Field(description="Name of the variable.")
    value: str = Field(default="", max_length=4096, description="Its value.")


class Resources(KubeModel):
    """Requests and limits of a container."""

    requests: Quantities | None = Field(
        default=None, description="What the scheduler reserves, e.g. cpu: 100m."
    )
    limits: Quantities | None = Field(
        default=None, description="What the container may not exceed, e.g. memory: 512Mi."
    )

    model_config = KubeModel.model_config | {"json_schema_extra": validations("requests-fit")}


class Toleration(KubeModel):
    """A toleration as in a Pod's spec."""

    key: str | None = Field(
        default=None, max_length=316, description="Taint key; empty with Exists matches all."
    )
    operator: Literal["Exists", "Equal"] | None = Field(
        default=None, description="Exists or Equal (the default)."
    )
    value: str | None = Field(default=None, max_length=63, description="Taint value for Equal.")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = Field(
        default=None, description="Effect to match; empty matches all."
    )
    toleration_seconds: int | None = Field(
        default=None, ge=0, le=31_536_000, description="How long NoExecute is tolerated, in seconds."
    )

    model_config = KubeModel.model_config | {
        "json_schema_extra": validations("toleration-value", "toleration-key", "toleration-seconds")
    }


class Condition(KubeModel):
    """A condition as metav1.Condition has it."""

    type: str = Field(max_length=64, description="Kind of the condition.")
    status: Literal["True", "False", "Unknown"] = Field(description="True, False or Unknown.")
    reason: str = Field(max_length=64, description="Stable CamelCase word for programs.")
    message: str = Field(default="", max_length=2048, description="Sentence for people.")
    last_transition_time: Time = Field(description="When `status` last changed.")
    observed_generation: int | None = Field(
        default=None, ge=0, description="Generation of the object this was decided on."
    )


CONDITIONS: dict[str, Any] = list_map("type")
Conditions = Annotated[tuple[Condition, ...], Field(max_length=16, json_schema_extra=CONDITIONS)]
