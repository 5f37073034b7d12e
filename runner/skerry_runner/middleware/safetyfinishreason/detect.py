"""Whether a provider says that it stopped an answer for safety. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage

from skerry_api.rows.safetyfinishreason import SafetyAdapter
from skerry_runner.finish import finish_values, same_word

__all__ = ["SafetyStop", "safety_stop"]


@dataclass(frozen=True)
class SafetyStop:
    """Which adapter found it, where, and the word as configured."""

    adapter: str
    field: str
    value: str


def safety_stop(message: AIMessage, adapters: Sequence[SafetyAdapter]) -> SafetyStop | None:
    """The first adapter that fits."""
    for adapter in adapters:
        for field in adapter.fields:
            for said in finish_values(message, field):
                for word in adapter.values:
                    if same_word(said, word):
                        return SafetyStop(adapter.name, field, word)
    return None
