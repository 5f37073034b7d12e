"""The list of skills that the model is told, so that it reads one when it fits. Pure: the same for every request of a run."""

from __future__ import annotations

import html
from collections.abc import Collection, Sequence

from langchain_core.messages import SystemMessage

from skerry_runner.skills import Skill

__all__ = ["READERS", "catalogue", "with_catalogue"]

READERS = frozenset({"read_file", "bash"})
"""Tools that a skill can be read with: without them the list would be of no use."""


def catalogue(skills: Sequence[Skill], allowed: Collection[str] | None) -> str:
    """Names, descriptions and paths of the skills that can be used; "" if there are none."""
    usable = [s for s in skills if s.enabled and s.text and (allowed is None or s.name in allowed)]
    if not usable:
        return ""
    lines = [
        "<skills>",
        "Instructions for certain kinds of work. Before you begin work that one fits, read its file whole.",
        *(
            f'<skill name="{html.escape(skill.name)}" path="{html.escape(skill.path)}">'
            f"{html.escape(skill.description, quote=False)}</skill>"
            for skill in usable
        ),
        "</skills>",
    ]
    return "\n".join(lines)


def with_catalogue(system: SystemMessage | None, text: str) -> SystemMessage:
    """The system message with the list behind it."""
    if system is None or not system.content:
        return SystemMessage(content=text)
    if isinstance(system.content, str):
        return system.model_copy(update={"content": f"{system.content}\n\n{text}"})
    return system.model_copy(update={"content": [*system.content, {"type": "text", "text": text}]})
