"""What a user's `/NAME …` means: nothing, a skill, or why there is none. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from langchain_core.messages import BaseMessage, HumanMessage

from skerry_api.names import RESERVED_SKILLS
from skerry_runner.messages import ORIGINAL, latest_user_message, text_of
from skerry_runner.skills import Skill

__all__ = ["Activation", "Refusal", "Verdict", "called_name", "decide", "typed_text"]

_CALL = re.compile(r"/([a-z0-9]+(?:-[a-z0-9]+)*)(?:\s+|\Z)")
NAME_MAX = 63
NAMES_TOLD = 20


class Verdict(StrEnum):
    """Why a skill is not activated."""

    MISSING = "missing"
    DISABLED = "disabled"
    FORBIDDEN = "forbidden"
    UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Activation:
    """`index`: where the user's message stands. `more`: whether the user wrote more than the name."""

    index: int
    target: HumanMessage
    skill: Skill
    text: str
    more: bool


@dataclass(frozen=True)
class Refusal:
    """The answer to give instead of the model's."""

    target: HumanMessage
    verdict: Verdict
    text: str


def typed_text(message: HumanMessage) -> str:
    """What the user typed, without what rows have put before it."""
    original = message.additional_kwargs.get(ORIGINAL)
    return original if isinstance(original, str) else text_of(message)


def called_name(text: str) -> tuple[str, str] | None:
    """The skill's name and the rest of the text; None if it begins with no `/NAME`, or with a reserved one."""
    match = _CALL.match(text)
    if match is None or match[1] in RESERVED_SKILLS or len(match[1]) > NAME_MAX:
        return None
    return match[1], text[match.end() :]


def decide(
    messages: Sequence[BaseMessage],
    skills: Sequence[Skill],
    *,
    allowed: Collection[str] | None,
    max_chars: int,
) -> Activation | Refusal | None:
    """Only the latest message of a person counts, and without skills nothing calls one. `allowed` None: all."""
    found = latest_user_message(messages) if skills else None
    call = called_name(typed_text(found[1])) if found else None
    if found is None or call is None:
        return None
    (index, target), (name, rest) = found, call
    skill = next((skill for skill in skills if skill.name == name), None)
    if skill is None:
        usable = sorted(s.name for s in skills if s.enabled and (allowed is None or s.name in allowed))
        return Refusal(target, Verdict.MISSING, f"There is no skill `/{name}` here. {_choice(usable)}")
    if not skill.enabled:
        return Refusal(target, Verdict.DISABLED, f"The skill `/{name}` is switched off in this profile.")
    if allowed is not None and name not in allowed:
        return Refusal(target, Verdict.FORBIDDEN, f"This agent may not use the skill `/{name}`.")
    if problem := _problem(skill.text, max_chars):
        return Refusal(target, Verdict.UNREADABLE, f"The skill `/{name}` can't be used: {problem}.")
    return Activation(index, target, skill, skill.text or "", bool(rest.strip()))


def _problem(text: str | None, max_chars: int) -> str | None:
    if text is None:
        return "its SKILL.md can't be read as text"
    if not text.strip():
        return "its SKILL.md is empty"
    if "\0" in text:
        return "its SKILL.md is not a text"
    if len(text) > max_chars:
        return f"its SKILL.md has {len(text)} characters, and {max_chars} are allowed"
    return None


def _choice(names: Sequence[str]) -> str:
    if not names:
        return "None can be used."
    told = ", ".join(f"`/{name}`" for name in names[:NAMES_TOLD])
    left = len(names) - NAMES_TOLD
    return f"You can use {told}{f' and {left} more' if left > 0 else ''}."
