"""Events of what a thread keeps: title, summaries, todos, memories."""

from __future__ import annotations

from typing import ClassVar

from skerry_runner.events.base import Event, Part

__all__ = ["MemoryEnqueued", "MemoryUpdated", "Summary", "TitleMade", "TodoEntry", "TodoWritten"]


class TitleMade(Event):
    """The thread has a title: `source` model, or local with the reason in `error` if a model was asked in vain."""

    TYPE: ClassVar[str] = "title"
    title: str
    source: str
    error: str | None = None


class Summary(Event):
    """A long history was to be summarised: `status` replaced or failed; counts are of messages.

    `skills` are the paths of skill files that stay word for word, `chars` is the summary's length.
    """

    TYPE: ClassVar[str] = "summary"
    status: str
    error: str | None = None
    removed: int = 0
    kept: int = 0
    chars: int = 0
    skills: tuple[str, ...] = ()


class TodoEntry(Part):
    content: str
    status: str


class TodoWritten(Event):
    """The agent wrote its list of todos anew."""

    TYPE: ClassVar[str] = "todo"
    todos: tuple[TodoEntry, ...]


class MemoryEnqueued(Event):
    """What was said is to become facts: number and length of its exchanges, no text."""

    TYPE: ClassVar[str] = "memory.enqueued"
    exchanges: int
    chars: int
    correction: bool
    """The user corrected the agent."""
    reinforcement: bool
    flush: str
    """AtEnd or Debounced."""


class MemoryUpdated(Event):
    """The model was asked for facts of a thread: `status` updated or failed, with the number of facts that changed."""

    TYPE: ClassVar[str] = "memory.updated"
    status: str
    of_thread: str
    added: int = 0
    removed: int = 0
    error: str | None = None
    dropped: bool = False
    """Nobody will try again; without it a failed update waits."""
