"""Where graph state is kept between steps. In memory for now; whatever the place, blobs are read strictly."""

from __future__ import annotations

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

__all__ = ["memory_saver", "serializer"]


def serializer() -> JsonPlusSerializer:
    """Reads only types known to be harmless: the default one would import and call what a crafted blob names."""
    return JsonPlusSerializer(pickle_fallback=False, allowed_json_modules=None, allowed_msgpack_modules=None)


def memory_saver() -> InMemorySaver:
    """For persistence Ephemeral: gone with the process."""
    return InMemorySaver(serde=serializer())
