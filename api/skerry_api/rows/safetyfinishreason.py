"""Settings of SafetyFinishReason: which words of which provider mean that it stopped the answer for safety."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from skerry_api.base import KubeModel, list_map

__all__ = ["DEFAULT_ADAPTERS", "SafetyAdapter", "SafetyFinishReasonSettings"]

_Word = Annotated[str, StringConstraints(min_length=1, max_length=128)]
_AdapterName = Annotated[
    str, StringConstraints(min_length=1, max_length=63, pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
]


class SafetyAdapter(KubeModel):
    """One provider's way to say it."""

    name: _AdapterName = Field(description="Name of the adapter, as records show it.")
    fields: tuple[_Word, ...] = Field(
        min_length=1,
        max_length=16,
        json_schema_extra={"x-kubernetes-list-type": "set"},
        description="Where to look in a response's metadata; dots lead into objects.",
    )
    values: tuple[_Word, ...] = Field(
        min_length=1,
        max_length=64,
        json_schema_extra={"x-kubernetes-list-type": "set"},
        description="Values that mean a stop for safety, in any case.",
    )


DEFAULT_ADAPTERS = (
    SafetyAdapter(
        name="openai", fields=("finish_reason", "incomplete_details.reason"), values=("content_filter",)
    ),
    SafetyAdapter(name="anthropic", fields=("stop_reason",), values=("refusal",)),
    SafetyAdapter(
        name="gemini",
        fields=("finish_reason", "prompt_feedback.block_reason"),
        values=(
            "SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "RECITATION", "IMAGE_SAFETY",
            "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION",
        ),
    ),
)  # fmt: skip


class SafetyFinishReasonSettings(KubeModel):
    enabled: bool = Field(default=True, description="Whether answers that a provider stopped are made safe.")
    adapters: tuple[SafetyAdapter, ...] = Field(
        default=DEFAULT_ADAPTERS,
        min_length=1,
        max_length=16,
        json_schema_extra=list_map("name"),
        description="Providers' ways to say that they stopped an answer; the first that fits counts.",
    )
