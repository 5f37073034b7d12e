"""The live stream of a run's events: where the runner serves it, and the words that are in it beside journal lines."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["STREAM_PATH", "STREAM_PORT", "StreamEvent"]

STREAM_PORT = 8091
"""On 127.0.0.1 of the runner Pod alone: people come in by port-forward, and so by their own rights."""
STREAM_PATH = "/events"


class StreamEvent(StrEnum):
    """Names of server-sent events that are no journal lines; those have none, and their `id` is the line's seq."""

    LOST = "lost"
    """Data {"first", "last"}: lines with these seqs are no longer kept here; the Pod's log has them."""
    END = "end"
    """The epoch is over: no line comes any more."""
