"""What is wrong with an input: where, and in which words. Everything that checks input speaks in these."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

__all__ = ["Problem"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of one object.

    `path` is a field path as the API server writes it (`spec.model.name`, `spec.tools.enabled[2]`); of a field
    of another object it starts with kind and name (`AgentProfile coder: spec.systemPrompt`).
    """

    path: str
    message: str

    @override
    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message
