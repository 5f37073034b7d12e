"""The skills of the run's profile, in its Pod: where the operator has mounted their ConfigMaps."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from skerry_api.document import DocumentSkill
from skerry_api.skills import SKILL_FILE
from skerry_runner.skills import Skill

__all__ = ["UnreadableSkill", "read_skills"]


class UnreadableSkill(Exception):
    """A skill can't be had; the message names it."""


def read_skills(skills: Iterable[DocumentSkill], mounted: Path) -> tuple[Skill, ...]:
    """The skills of the document. Blocking. `mounted` holds a directory of each that is switched on.

    Raises:
        UnreadableSkill: what should be mounted is not there.
    """
    return tuple(
        _read(skill.name, mounted / skill.name) if skill.enabled else Skill(skill.name, None, enabled=False)
        for skill in skills
    )


def _read(name: str, folder: Path) -> Skill:
    try:
        # Beside its files a mounted ConfigMap has `..data` and its like, which no key can be named.
        contents = {
            file.name: file.read_bytes()
            for file in sorted(folder.iterdir())
            if not file.name.startswith("..")
        }
    except OSError as error:
        raise UnreadableSkill(f"skill {name}: its ConfigMap can't be read: {error.strerror}") from error
    if SKILL_FILE not in contents:
        raise UnreadableSkill(f"skill {name}: its ConfigMap has no key {SKILL_FILE}")
    return Skill.of(name, contents)
