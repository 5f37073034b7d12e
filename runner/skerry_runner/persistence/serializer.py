"""How state becomes bytes and back. Whoever can write the bytes must not gain anything but a failed run."""

from __future__ import annotations

from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from typing_extensions import override

from skerry_runner.persistence.errors import StateUnusable

__all__ = ["StrictSerializer"]

READ = frozenset({"null", "bytes", "bytearray", "msgpack"})
"""Kinds that are read: those that are written. The library would also read pickle and JSON with constructors."""


class StrictSerializer(JsonPlusSerializer):
    """Reads only types known to be harmless: the default one would import and call what a crafted blob names."""

    def __init__(self) -> None:
        super().__init__(pickle_fallback=False, allowed_json_modules=None, allowed_msgpack_modules=None)

    @override
    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """Raises StateUnusable."""
        if data[0] not in READ:
            raise StateUnusable(f"a checkpoint of kind {data[0]!r} is not read")
        try:
            return super().loads_typed(data)
        except Exception as error:
            raise StateUnusable(f"a checkpoint can't be read: {type(error).__name__}: {error}") from error
