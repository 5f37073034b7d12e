"""Settings of SkillActivation: which skills a user may activate with `/NAME`."""

from __future__ import annotations

from pydantic import Field

from skerry_api.base import KubeModel
from skerry_api.skills import SkillName

__all__ = ["SKILL_TEXT_MAX", "SkillActivationSettings"]

SKILL_TEXT_MAX = 262_144
"""Longest SKILL.md that can be activated, in characters."""


class SkillActivationSettings(KubeModel):
    allowed: tuple[SkillName, ...] | None = Field(
        default=None,
        max_length=64,
        json_schema_extra={"x-kubernetes-list-type": "set"},
        description="Names of skills that may be activated with `/NAME`; all of the profile's if absent, none if empty.",
    )
    catalogue: bool = Field(
        default=True,
        description="Whether the agent is told which skills it can read below /mnt/skills, if it has a tool to read them.",
    )
    max_chars: int = Field(
        default=65_536,
        ge=1000,
        le=SKILL_TEXT_MAX,
        description="Longest SKILL.md that is put into a request, in characters; a longer one is refused, never cut.",
    )
