"""What of a conversation is worth remembering: a user's texts and the answers to them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import AwareDatetime, BaseModel, ConfigDict

from skerry_runner.memory.flags import corrects, reinforces
from skerry_runner.messages import (
    HIDDEN,
    MODEL_ERROR,
    ORIGINAL,
    RUN_ID,
    STOP,
    is_final,
    is_user_message,
    text_of,
)
from skerry_runner.tools.text import cut_middle

__all__ = ["Exchange", "Snapshot", "SnapshotKey", "folded", "snapshot_of", "user_text"]

TEXT_CHARS = 20_000
"""Longest text of this run's exchanges that is kept, in characters."""
EARLIER_CHARS = 2000
"""Likewise of those before, which only help to understand."""
EARLIER_MOST = 3
FRESH_MOST = 50
"""Exchanges that one snapshot can hold: of many runs in a row, the newest."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SnapshotKey(NamedTuple):
    """What waits under one key becomes one update."""

    thread: str
    user: str
    agent: str


class Exchange(_Part):
    """What a user said, and what the agent's answer was; `id` is the user's message's."""

    id: str
    user: str
    answer: str


class Snapshot(_Part):
    """`fresh` are the exchanges to draw facts from, `earlier` those that were there before."""

    thread: str
    user: str
    agent: str
    run: str
    time: AwareDatetime
    earlier: tuple[Exchange, ...] = ()
    fresh: tuple[Exchange, ...]
    correction: bool = False
    reinforcement: bool = False

    @property
    def key(self) -> SnapshotKey:
        return SnapshotKey(self.thread, self.user, self.agent)


def user_text(message: HumanMessage) -> str:
    """What the user typed, without what rows have put before it."""
    original = message.additional_kwargs.get(ORIGINAL, message.content)
    return text_of(HumanMessage(content=original)).strip()


def _storable(text: str) -> str:
    """Without what JSON in UTF-8, or Postgres in JSON, can't hold."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _answers(messages: Iterable[BaseMessage]) -> list[tuple[HumanMessage, str]]:
    """Each message of a person with the text that answered it; empty if nothing of the model's own did."""
    pairs: list[tuple[HumanMessage, str]] = []
    for message in messages:
        if isinstance(message, HumanMessage) and is_user_message(message):
            pairs.append((message, ""))
        elif isinstance(message, AIMessage) and pairs and is_final(message):
            kwargs = message.additional_kwargs
            guarded = kwargs.get(STOP) or kwargs.get(MODEL_ERROR) or kwargs.get(HIDDEN)
            # An empty answer is asked for again: the next one counts. A guard's words stand for nobody's.
            text = "" if guarded else text_of(message).strip()
            pairs[-1] = (pairs[-1][0], text)
    return pairs


def snapshot_of(
    messages: Sequence[BaseMessage],
    key: SnapshotKey,
    *,
    run: str,
    now: datetime,
    redact: Callable[[str], str] = lambda text: text,
) -> Snapshot | None:
    """This run's exchanges, with a few before them; None if nobody said anything that was answered."""
    fresh: list[Exchange] = []
    earlier: list[Exchange] = []
    for index, (message, answer) in enumerate(_answers(messages)):
        said = user_text(message)
        if not said or not answer:
            continue
        mine = message.additional_kwargs.get(RUN_ID) == run
        chars = TEXT_CHARS if mine else EARLIER_CHARS
        (fresh if mine else earlier).append(
            Exchange(
                id=message.id or f"{run}/{index}",
                user=cut_middle(redact(_storable(said)), chars),
                answer=cut_middle(redact(_storable(answer)), chars),
            )
        )
    if not fresh:
        return None
    texts = [exchange.user for exchange in fresh]
    return Snapshot(
        thread=key.thread,
        user=key.user,
        agent=key.agent,
        run=run,
        time=now,
        earlier=tuple(earlier[-EARLIER_MOST:]),
        fresh=tuple(fresh[-FRESH_MOST:]),
        correction=corrects(texts),
        reinforcement=reinforces(texts),
    )


def folded(old: Snapshot, new: Snapshot) -> Snapshot:
    """Two snapshots of one key as one: the later wins, flags add up, no exchange that waits is lost.

    A later run shows the exchanges of an earlier one among those before it, cut short.
    """
    if new.time < old.time:
        old, new = new, old
    waiting = {exchange.id: exchange for exchange in old.fresh}
    waiting |= {exchange.id: exchange for exchange in new.fresh}
    before = {exchange.id: exchange for exchange in (*old.earlier, *new.earlier)}
    return new.model_copy(
        update={
            "earlier": tuple(e for id_, e in before.items() if id_ not in waiting)[-EARLIER_MOST:],
            "fresh": tuple(waiting.values())[-FRESH_MOST:],
            "correction": old.correction or new.correction,
            "reinforcement": old.reinforcement or new.reinforcement,
        }
    )
