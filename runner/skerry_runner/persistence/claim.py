"""For whom state is opened."""

from __future__ import annotations

from dataclasses import dataclass

from skerry_api.document import RunDocument

__all__ = ["Claim", "claim_of", "thread_key"]


@dataclass(frozen=True, slots=True)
class Claim:
    """`thread` is the checkpointer's thread id, `run` the run's UID."""

    thread: str
    run: str
    epoch: int


def thread_key(document: RunDocument) -> str:
    """The thread as the checkpointer knows it; ids hold no newline."""
    return f"{document.run.namespace}\n{document.user_id}\n{document.thread_id}"


def claim_of(document: RunDocument) -> Claim:
    return Claim(thread_key(document), document.run.uid, document.run.epoch)
