"""Checkpoints in memory, for persistence Ephemeral."""

from __future__ import annotations

from langgraph.checkpoint.memory import InMemorySaver

from skerry_runner.persistence.serializer import StrictSerializer

__all__ = ["memory_saver", "serializer"]


def serializer() -> StrictSerializer:
    """The one that every saver uses."""
    return StrictSerializer()


def memory_saver() -> InMemorySaver:
    """Gone with the process."""
    return InMemorySaver(serde=serializer())
