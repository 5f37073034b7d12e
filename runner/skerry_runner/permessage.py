"""Facts of messages, found out once: a history is asked about every turn, and hardly a message in it is new."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar
from weakref import ref

from langchain_core.messages import BaseMessage

__all__ = ["PerMessage"]

T = TypeVar("T")
Known = tuple[ref[BaseMessage], T]


class PerMessage(Generic[T]):
    """A pure function of one message, over a history; remembers what it said of the latest history, and no more.

    Messages are told apart as objects: they are never changed, and a copy under the same id is another message.
    """

    def __init__(self, function: Callable[[BaseMessage], T]) -> None:
        self._function = function
        self._known: dict[int, Known[T]] = {}

    def __call__(self, messages: Sequence[BaseMessage]) -> list[T]:
        """The function of each message, in order."""
        before, known = self._known, dict[int, Known[T]]()
        for message in messages:
            found = before.get(id(message))
            if found is None or found[0]() is not message:
                found = ref(message), self._function(message)
            known[id(message)] = found
        self._known = known
        return [known[id(message)][1] for message in messages]
