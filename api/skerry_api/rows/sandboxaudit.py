"""Settings of SandboxAudit, the gate before bash. It is always there: every command leaves a record."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from skerry_api.base import KubeModel

__all__ = ["SandboxAuditSettings"]

_RuleId = Annotated[
    str, StringConstraints(min_length=1, max_length=63, pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
]


class SandboxAuditSettings(KubeModel):
    max_command_chars: int = Field(
        default=10_000,
        ge=100,
        le=65_536,
        description="Longest command that is judged; longer ones are blocked. Long texts belong into files.",
    )
    ignored_rules: tuple[_RuleId, ...] = Field(
        default=(),
        max_length=64,
        json_schema_extra={"x-kubernetes-list-type": "set"},
        description="Ids of rules that don't count, for work that needs what they forbid.",
    )
