"""What every model of the API shares: aliases, times, object metadata.

Models are read leniently (a newer server may know more fields) and written without nulls.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, PlainSerializer
from pydantic.alias_generators import to_camel

__all__ = [
    "API_VERSION",
    "GROUP",
    "IMMUTABLE",
    "MUTABLE",
    "RULES_KEY",
    "VERSION",
    "KubeModel",
    "KubeObject",
    "ObjectMeta",
    "OwnerReference",
    "Time",
    "format_time",
    "immutable",
    "list_map",
    "mutable",
    "validations",
]  # fmt: skip

GROUP = "skerry.dev"
VERSION = "v1alpha1"
API_VERSION: Literal["skerry.dev/v1alpha1"] = "skerry.dev/v1alpha1"


def format_time(moment: datetime) -> str:
    """RFC 3339 in UTC with whole seconds, as metav1.Time wants it."""
    return moment.astimezone(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")


Time = Annotated[AwareDatetime, PlainSerializer(format_time, return_type=str, when_used="json")]


MUTABLE = "x-skerry-mutable"
IMMUTABLE = "x-skerry-immutable"
RULES_KEY = "x-kubernetes-validations"


def mutable(**extra: Any) -> dict[str, Any]:
    """Schema marker: this field of an otherwise immutable spec may be changed after creation."""
    return {MUTABLE: True, **extra}


def immutable(what: Literal["fields", "whole"], *rules: str) -> dict[str, Any]:
    """Schema marker of a spec: each field without `mutable()`, or all of it, stays as created; plus rules."""
    return {IMMUTABLE: what, **(validations(*rules) if rules else {})}


def validations(*rules: str) -> dict[str, Any]:
    """Schema marker naming cross-field rules, which stand in `skerry_api.rules`."""
    return {RULES_KEY: list(rules)}


def list_map(*keys: str) -> dict[str, Any]:
    """Schema marker: the list is a map by these keys, so that appliers own single entries."""
    return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}


class KubeModel(BaseModel):
    """A part of an object: snake_case in Python, camelCase on the wire."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore", frozen=True)

    def wire(self) -> dict[str, Any]:
        """The JSON form: camelCase, no nulls (`exclude_defaults` would lose apiVersion and kind)."""
        return self.model_dump(by_alias=True, mode="json", exclude_none=True)


class OwnerReference(KubeModel):
    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(KubeModel):
    """The metadata that we read; everything else of it is dropped."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()


class KubeObject(KubeModel):
    """A whole custom resource."""

    KIND: ClassVar[str]
    PLURAL: ClassVar[str]
    SHORT_NAMES: ClassVar[tuple[str, ...]] = ()

    api_version: Literal["skerry.dev/v1alpha1"] = API_VERSION
    kind: str
    metadata: ObjectMeta

    @classmethod
    def read(cls, raw: dict[str, Any]) -> Self:
        """Parse an object as the API server gives it; raises pydantic.ValidationError."""
        return cls.model_validate(raw)
