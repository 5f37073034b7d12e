"""Skills as data: texts that tell an agent how to do something. Where they come from is the edge's business."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import yaml

from skerry_api.skills import SKILL_FILE
from skerry_runner.paths import SKILLS

__all__ = ["Skill", "files_of"]

FRONT_MATTER_MAX = 16_384
DESCRIPTION_MAX = 1024


@dataclass(frozen=True)
class Skill:
    """`text` is SKILL.md, None if it can't be read as text (then `files` holds it); `files` are the further ones, by name."""

    name: str
    text: str | None
    enabled: bool = True
    files: Mapping[str, bytes] = field(default_factory=dict)
    description: str = ""
    """What it is for, as the front matter of SKILL.md has it; "" if that has none."""

    @classmethod
    def of(cls, name: str, contents: Mapping[str, bytes]) -> Skill:
        """The skill that a ConfigMap's values make."""
        try:
            text = contents[SKILL_FILE].decode("utf-8")
        except (KeyError, UnicodeDecodeError):
            return cls(name, None, files=contents)
        files = {key: data for key, data in contents.items() if key != SKILL_FILE}
        return cls(name, text, files=files, description=_description(text))

    @property
    def path(self) -> str:
        """Where the agent finds SKILL.md."""
        return f"{SKILLS}/{self.name}/{SKILL_FILE}"


def _description(text: str) -> str:
    """`description` of the YAML between the first two lines `---`, in one line."""
    head, fence, _ = text[:FRONT_MATTER_MAX].removeprefix("---\n").partition("\n---")
    if not text.startswith("---\n") or not fence:
        return ""
    try:
        told = yaml.safe_load(head)
    except (yaml.YAMLError, ValueError, RecursionError):
        return ""  # somebody's text, not ours to judge
    words = told.get("description") if isinstance(told, dict) else None
    return " ".join(words.split())[:DESCRIPTION_MAX] if isinstance(words, str) else ""


def files_of(skills: Iterable[Skill]) -> dict[str, bytes]:
    """What stands in the sandbox, by path below /mnt/skills: the files of those that are switched on."""
    files: dict[str, bytes] = {}
    for skill in skills:
        if skill.enabled:
            files |= {f"{skill.name}/{name}": data for name, data in skill.files.items()}
            if skill.text is not None:
                files[f"{skill.name}/{SKILL_FILE}"] = skill.text.encode("utf-8", "surrogatepass")
    return files
