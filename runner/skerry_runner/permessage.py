"""What is known of a history, kept from turn to turn: it is asked about every turn, and hardly a message in it is new.

Messages are told apart as objects: they are never changed, and a copy under the same id is another message. Comparing
places is all that is done for a message that was there before: to look into each costs more than what is looked for.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from langchain_core.messages import AnyMessage, BaseMessage

__all__ = ["PerMessage", "WellSoFar"]

T = TypeVar("T")


class PerMessage(Generic[T]):
    """A pure function of one message, over a history; remembers what it said of the latest history, by place."""

    def __init__(self, function: Callable[[BaseMessage], T]) -> None:
        self._function = function
        self._messages: list[BaseMessage] = []
        self._told: list[T] = []

    def __call__(self, messages: Sequence[BaseMessage]) -> list[T]:
        """The function of each message, in order."""
        told = [
            known if message is before else self._function(message)
            for message, before, known in zip(messages, self._messages, self._told, strict=False)
        ]
        told += map(self._function, messages[len(told) :])
        self._messages, self._told = list(messages), told
        return list(told)


class WellSoFar:
    """A pure check that a history passes if it passes one part of it and the rest; remembers the latest that passed."""

    def __init__(self, check: Callable[[list[AnyMessage]], bool]) -> None:
        self._check = check
        self._passed: list[AnyMessage] = []

    def __call__(self, messages: list[AnyMessage]) -> bool:
        """Whether the history passes."""
        passed = self._passed
        grown = len(passed) <= len(messages) and all(map(operator.is_, passed, messages))
        if not self._check(messages[len(passed) :] if grown else messages):
            return False
        self._passed = list(messages)
        return True
