"""Settings of Memory: what is remembered of a user beyond a thread, and when it is brought up to date."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from skerry_api.base import KubeModel

__all__ = ["Confidence", "MemoryFlush", "MemorySettings"]

# A string: there are no floats in the API.
Confidence = Annotated[
    str, StringConstraints(min_length=1, max_length=8, pattern=r"^(0(\.[0-9]+)?|1(\.0+)?)$")
]


class MemoryFlush(StrEnum):
    """When a conversation becomes facts."""

    AT_END = "AtEnd"
    """By the runner, before it reports the run's end."""
    DEBOUNCED = "Debounced"
    """By `skerry memory flush --due`, once the thread was quiet: several runs in a row cost one update."""


class MemorySettings(KubeModel):
    enabled: bool = Field(
        default=False, description="Whether facts about the user are remembered from run to run."
    )
    flush: MemoryFlush = Field(
        default=MemoryFlush.AT_END,
        description="AtEnd: the runner asks the model for new facts before it reports the run's end. "
        "Debounced: `skerry memory flush --due` does, later.",
    )
    flush_timeout_seconds: int = Field(
        default=60,
        ge=1,
        le=600,
        description="How long the update at a run's end may take, in seconds; what is not done then is left for later.",
    )
    debounce_seconds: int = Field(
        default=30,
        ge=1,
        le=86_400,
        description="How long a thread must have been quiet until others than its own runs flush it, in seconds.",
    )
    agent: Annotated[
        str, StringConstraints(min_length=1, max_length=63, pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
    ] = Field(
        default="lead",
        description="Whose memory it is: profiles that name the same agent share what it knows of a user.",
    )
    max_facts: int = Field(
        default=100,
        ge=1,
        le=1000,
        description="Most facts of a user; above, those of least confidence are forgotten.",
    )
    min_confidence: Confidence = Field(
        default="0.7",
        description="Confidence below which a fact is not kept, as a decimal from 0 to 1.",
    )
    max_fact_chars: int = Field(
        default=500, ge=20, le=4000, description="Longest fact that is kept, in characters."
    )
    max_input_tokens: int = Field(
        default=8000,
        ge=200,
        le=1_000_000,
        description="Most tokens (estimated) of a conversation that are handed to the model for an update.",
    )
