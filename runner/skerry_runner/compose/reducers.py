"""Apply the updates of several rows as the graph would, and hand the graph one update with the same effect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast, get_type_hints

from langgraph.channels.base import BaseChannel
from langgraph.channels.binop import BinaryOperatorAggregate
from langgraph.graph import StateGraph
from langgraph.types import Overwrite
from typing_extensions import TypedDict

__all__ = ["Fold", "channels_of", "merged_schema"]


def merged_schema(schemas: Sequence[type]) -> type:
    """One state schema of many; a later schema wins a key, as in `create_agent`."""
    keys: dict[str, Any] = {}
    for schema in dict.fromkeys(schemas):
        keys |= get_type_hints(schema, include_extras=True)
    return cast("type", TypedDict("PipelineState", keys))  # type: ignore[operator]  # the functional form is a call


def channels_of(schema: type) -> dict[str, BaseChannel[Any, Any, Any]]:
    """The graph's own channels for a state schema, so that reducers are the real ones."""
    return dict(StateGraph(schema).channels)


class Fold:
    """The state as the next fused row must see it, and the updates that led there."""

    def __init__(self, channels: Mapping[str, BaseChannel[Any, Any, Any]], state: Mapping[str, Any]) -> None:
        self._channels = channels
        self._first = state
        self.state: dict[str, Any] = dict(state)
        self._updates: dict[str, list[Any]] = {}

    def add(self, update: Mapping[str, Any]) -> None:
        """Pass one row's update through the reducers. Keys that the graph does not know are dropped, as it does."""
        for key, value in update.items():
            if key in self._channels:
                self.state[key] = self._reduced(key, self.state, [value])
                self._updates.setdefault(key, []).append(value)

    def result(self) -> dict[str, Any] | None:
        """One update that takes the first state to the last."""
        return {key: self._one(key, values) for key, values in self._updates.items()} or None

    def _one(self, key: str, values: list[Any]) -> Any:
        if len(values) == 1:
            return values[0]
        if not isinstance(self._channels[key], BinaryOperatorAggregate):
            return values[-1]
        if all(isinstance(value, list) for value in values):
            # Lists read best for whoever streams updates; correct only if the reducer agrees (a message removed
            # and added again would keep its old place).
            joined = [item for value in values for item in value]
            if self._reduced(key, self._first, [joined]) == self.state[key]:
                return joined
        return Overwrite(self.state[key])

    def _reduced(self, key: str, state: Mapping[str, Any], values: list[Any]) -> Any:
        empty = self._channels[key]
        channel = empty.from_checkpoint(state[key]) if key in state else empty.copy()
        channel.update(values)
        return channel.get()
