"""What every event of the journal has."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

__all__ = ["TEXT_MAX", "Event", "Part", "clip"]

TEXT_MAX = 65_536
"""Longest text in an event, in characters; `chars` beside it gives the true length."""


def clip(text: str) -> str:
    """A text as an event may carry it: not too long, and without lone surrogates, which JSON can't hold."""
    return text[:TEXT_MAX].encode("utf-8", "replace").decode()


class Part(BaseModel):
    """A piece of an event."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


class Event(Part):
    """Base of all events; `TYPE` is the line's `type`."""

    TYPE: ClassVar[str]

    def body(self) -> dict[str, Any]:
        """The line without its envelope."""
        return {"type": self.TYPE, **self.model_dump(by_alias=True, mode="json", exclude_none=True)}
