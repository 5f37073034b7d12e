"""The skills of a profile on this machine: from ConfigMaps beside it."""

from __future__ import annotations

from collections.abc import Mapping

from skerry_api.agentprofile import AgentProfile
from skerry_api.problems import Problem
from skerry_api.skills import SKILL_FILE
from skerry_runner.skills import Skill

__all__ = ["profile_skills"]


def profile_skills(
    profile: AgentProfile, contents: Mapping[tuple[str, str], bytes]
) -> tuple[tuple[Skill, ...], list[Problem]]:
    """The skills, and which are missing. `contents` are values of ConfigMaps by (name, key)."""
    skills: list[Skill] = []
    problems: list[Problem] = []
    for index, skill in enumerate(profile.spec.skills):
        source = skill.config_map_ref.name
        if not skill.enabled:
            skills.append(Skill(skill.name, None, enabled=False))
        elif (source, SKILL_FILE) not in contents:
            path = f"AgentProfile {profile.metadata.name}: spec.skills[{index}].configMapRef"
            problems.append(Problem(path, f"there is no ConfigMap {source} with key {SKILL_FILE}"))
        else:
            skills.append(
                Skill.of(skill.name, {key: data for (name, key), data in contents.items() if name == source})
            )
    return tuple(skills), problems
