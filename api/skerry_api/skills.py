"""Skills of a profile: texts in ConfigMaps that tell the agent how to do something."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from skerry_api.base import KubeModel, list_map, validations
from skerry_api.common import LocalRef

__all__ = ["SKILLS_PATH", "SKILL_FILE", "ProfileSkill", "ProfileSkills", "SkillName"]

SKILL_FILE = "SKILL.md"
"""Key of a skill's ConfigMap that holds its text; further keys are files beside it."""
SKILLS_PATH = "/etc/skerry/skills"
"""Where a runner Pod has the skills' ConfigMaps, each in a directory of the skill's name."""

SkillName = Annotated[
    str, StringConstraints(min_length=1, max_length=63, pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
]
_OwnName = Annotated[SkillName, Field(json_schema_extra=validations("skill-name"))]


class ProfileSkill(KubeModel):
    """One skill. A user calls it with `/NAME`; the agent reads it below /mnt/skills/NAME."""

    name: _OwnName = Field(description="Name of the skill within the profile.")
    config_map_ref: LocalRef = Field(
        description=f"ConfigMap that holds it: its text under the key {SKILL_FILE}, further files under other keys."
    )
    enabled: bool = Field(
        default=True,
        description="Whether it can be used; one that is switched off is known by its name alone.",
    )


ProfileSkills = Annotated[tuple[ProfileSkill, ...], Field(max_length=32, json_schema_extra=list_map("name"))]
