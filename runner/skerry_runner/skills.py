"""Skills as data: texts that tell an agent how to do something. Where they come from is the edge's business."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["SKILLS_ROOT", "SKILL_FILE", "Skill"]

SKILLS_ROOT = "/mnt/skills"
"""Where the agent reads them in its sandbox."""
SKILL_FILE = "SKILL.md"


@dataclass(frozen=True)
class Skill:
    """`text` is SKILL.md, None if it could not be read as text; `files` are the further ones, by name."""

    name: str
    text: str | None
    enabled: bool = True
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """Where the agent finds SKILL.md."""
        return f"{SKILLS_ROOT}/{self.name}/{SKILL_FILE}"
