"""Settings of Summarization: when a long history is replaced by a summary, and what stays of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from skerry_api.base import KubeModel, validations

__all__ = ["Fraction", "HistorySize", "SummarizationSettings"]

# A string: there are no floats in the API.
Fraction = Annotated[
    str, StringConstraints(min_length=1, max_length=8, pattern=r"^(0\.[0-9]*[1-9][0-9]*|1(\.0+)?)$")
]


class HistorySize(KubeModel):
    """A size of history, in exactly one unit."""

    messages: int | None = Field(default=None, ge=1, le=100_000, description="Number of messages.")
    tokens: int | None = Field(
        default=None,
        ge=1,
        le=100_000_000,
        description="Tokens, as the provider last counted them or estimated.",
    )
    fraction: Fraction | None = Field(
        default=None, description="Share of the model's context window, as a decimal such as 0.8."
    )

    model_config = KubeModel.model_config | {"json_schema_extra": validations("one-history-size")}


class SummarizationSettings(KubeModel):
    enabled: bool = Field(default=False, description="Whether long histories are summarised.")
    trigger: tuple[HistorySize, ...] = Field(
        default=(HistorySize(messages=40),),
        min_length=1,
        max_length=8,
        json_schema_extra={"x-kubernetes-list-type": "atomic"},
        description="Sizes at which the history is summarised; any one of them is enough.",
    )
    keep: HistorySize = Field(
        default=HistorySize(messages=20), description="How much of the newest history stays as it is."
    )
    context_tokens: int | None = Field(
        default=None,
        ge=1000,
        le=100_000_000,
        description="Context window of the model in tokens, for fractions, where the model does not tell it.",
    )
    max_input_tokens: int = Field(
        default=32_000,
        ge=500,
        le=10_000_000,
        description="Most tokens (estimated) of history that are handed to the model for a summary; "
        "above, the longest messages are shortened first.",
    )
    max_summary_chars: int = Field(
        default=12_000, ge=500, le=200_000, description="Longest summary that is kept, in characters."
    )
    timeout_seconds: int = Field(
        default=120,
        ge=1,
        le=3600,
        description="How long a summary may take, in seconds; then the history stays.",
    )
    preserve_recent_skill_count: int = Field(
        default=5, ge=0, le=64, description="How many recently read skills stay word for word."
    )
    preserve_recent_skill_tokens: int = Field(
        default=25_000,
        ge=0,
        le=1_000_000,
        description="Tokens (estimated) that all of these may take together.",
    )
    preserve_recent_skill_tokens_per_skill: int = Field(
        default=5000,
        ge=0,
        le=1_000_000,
        description="Tokens (estimated) that one of these may take; a longer one is summarised.",
    )
    skill_read_tools: tuple[Annotated[str, StringConstraints(min_length=1, max_length=128)], ...] = Field(
        default=("read_file", "read", "view", "cat"),
        max_length=16,
        json_schema_extra={"x-kubernetes-list-type": "set"},
        description="Names of tools whose results below /mnt/skills count as reading a skill.",
    )

    model_config = KubeModel.model_config | {"json_schema_extra": validations("summary-shrinks")}
