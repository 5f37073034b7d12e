"""Settings of SkillActivation: which skills a user may activate with `/NAME`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from skerry_api.base import KubeModel

__all__ = ["SKILL_TEXT_MAX", "SkillActivationSettings", "SkillName"]

SKILL_TEXT_MAX = 262_144
"""Longest SKILL.md that can be activated, in characters."""
SkillName = Annotated[
    str, StringConstraints(min_length=1, max_length=63, pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
]


class SkillActivationSettings(KubeModel):
    allowed: tuple[SkillName, ...] | None = Field(
        default=None,
        max_length=64,
        json_schema_extra={"x-kubernetes-list-type": "set"},
        description="Names of skills that may be activated with `/NAME`; all of the profile's if absent, none if empty.",
    )
    max_chars: int = Field(
        default=65_536,
        ge=1000,
        le=SKILL_TEXT_MAX,
        description="Longest SKILL.md that is put into a request, in characters; a longer one is refused, never cut.",
    )
