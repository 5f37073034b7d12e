"""Whether a user corrects the agent or agrees with it: hints for the model that draws facts, nothing more. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["corrects", "reinforces"]

_CORRECTIONS = (
    r"\bthat(?:'|’)?s (?:not (?:right|correct|what i)|wrong|incorrect)\b",
    r"\bthat is (?:not (?:right|correct|what i)|wrong|incorrect)\b",
    r"\byou(?:'|’)?(?: a)?re (?:wrong|mistaken)\b",
    r"\byou (?:misunderstood|misread|got (?:it|that|this) wrong|forgot)\b",
    r"\b(?:i|we) (?:said|told you|asked for|meant)\b",
    r"\b(?:please )?(?:don(?:'|’)?t|do not|never) (?:do|use|say|write|add|make|change) (?:that|this|it|\w+) (?:again|any ?more)\b",
    r"\b(?:try|do it|redo it|start) (?:again|over)\b",
    r"^\s*(?:no|nope|wrong|incorrect|stop)\b\s*[,.!:;–-]",
    r"不对|不是这样|你理解错|我说的是",
    r"\bdas (?:ist|war) (?:falsch|nicht richtig)\b",
)
_REINFORCEMENTS = (
    r"\b(?:perfect|exactly|spot on|well done|great (?:job|work)|good (?:job|work)|awesome|excellent)\b",
    r"\bthat(?:'|’)?s (?:it|right|correct|better|great|what i (?:wanted|needed|meant))\b",
    r"\bthat is (?:right|correct|better|great|what i (?:wanted|needed|meant))\b",
    r"\b(?:keep (?:doing|it like|it up)|always do (?:it|that|this) (?:like|this))\b",
    r"\byou(?:'|’)?(?: a)?re right\b",
    r"\b(?:works|worked) (?:great|perfectly|well)\b",
    r"很好|正是|完美|没错",
    r"\b(?:genau(?: so)?|perfekt|sehr gut)\b",
)
_CORRECTION = re.compile("|".join(_CORRECTIONS), re.IGNORECASE | re.MULTILINE)
_REINFORCEMENT = re.compile("|".join(_REINFORCEMENTS), re.IGNORECASE | re.MULTILINE)
LOOKED_AT = 20_000
"""Characters of a text that are looked at: whoever corrects says so early."""


def corrects(texts: Iterable[str]) -> bool:
    """Whether any of a user's texts says that something was wrong."""
    return any(_CORRECTION.search(text[:LOOKED_AT]) for text in texts)


def reinforces(texts: Iterable[str]) -> bool:
    """Whether any of a user's texts says that something was right; a correction is none ("not exactly" is both)."""
    return any(_REINFORCEMENT.search(text[:LOOKED_AT]) for text in texts)
