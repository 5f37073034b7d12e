"""Seeded nonsense: JSON of any shape, and good manifests with a piece of it in them."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

from skerry_api.kinds import KINDS
from skerry_api.structural import structural
from skerry_testing.manifests import CASES
from skerry_testing.schemas import walk

__all__ = ["junk", "mangled"]

LEAVES = [
    None,
    True,
    False,
    0,
    -1,
    600,
    2**70,
    2.5,
    "",
    "x\n",
    "a",
    "AgentRun",
    "10.0.0.0/8",
    "1Gi",
    "Exists",
]
WORDS = sorted({
    name for model in KINDS.values() for _, node in walk(structural(model)) for name in node.get("properties", ())
})  # fmt: skip


def junk(random: Random, depth: int = 0) -> Any:
    """Anything that JSON can hold, in the words of our manifests."""
    if depth > 3 or random.random() < 0.4:
        return random.choice(LEAVES)
    if random.random() < 0.3:
        return [junk(random, depth + 1) for _ in range(random.randint(0, 3))]
    return {word: junk(random, depth + 1) for word in random.sample(WORDS, random.randint(0, 4))}


def mangled(seed: int) -> dict[str, Any]:
    """A good manifest with one of its fields, or a new one, set to junk."""
    random = Random(seed)
    manifest = copy.deepcopy(random.choice([case.manifest for case in CASES if not case.faults]))
    place: dict[str, Any] = manifest.setdefault("spec", {})
    while (
        inner := [key for key, value in place.items() if isinstance(value, dict)]
    ) and random.random() < 0.8:
        place = place[random.choice(inner)]
    key = random.choice(list(place)) if place and random.random() < 0.8 else random.choice(WORDS)
    place[key] = junk(random)
    return manifest
