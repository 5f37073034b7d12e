"""What every event of the journal has."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticSerializationError

__all__ = ["TEXT_MAX", "Event", "Part", "as_json", "clip"]

as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""JSON as the journal has it: compact, other scripts as they are."""

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

    def json_body(self) -> str:
        """`body` as JSON, in a quarter of the time; a request lists the whole history, and there is one every turn."""
        try:
            fields = self.model_dump_json(by_alias=True, exclude_none=True)
        except (
            PydanticSerializationError
        ):  # a lone surrogate: whoever encodes the text says what becomes of it
            return as_json(self.body())
        return f'{{"type":"{self.TYPE}"{"," if len(fields) > 2 else ""}{fields[1:]}'
