"""Flushing without a run: what waits becomes facts by the model of its profile. For `skerry memory flush` and the CronJob."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from langchain_core.messages import BaseMessage
from typing_extensions import override

from skerry_api.document import RunDocument
from skerry_runner.events import Event
from skerry_runner.llm.calls import ModelCalls
from skerry_runner.memory.book import MemoryBook
from skerry_runner.memory.runmemory import OpenStore
from skerry_runner.memory.update import Unanswered, Updated, due_groups, flush_group
from skerry_runner.messages import text_of
from skerry_runner.models.build import BuiltModel, build_model
from skerry_runner.models.internal import ModelGate, Purpose, internal_call
from skerry_runner.ports import Clock, JournalPort

__all__ = ["Nowhere", "flush_waiting"]

LEAD = "lead"


class Nowhere(JournalPort):
    """A journal for who has no run."""

    @override
    def emit(self, event: Event, *, agent: str = LEAD) -> None:
        """Forget it."""

    @override
    async def flush(self) -> None:
        """Nothing was written."""


@dataclass(frozen=True)
class _Caller:
    model: BuiltModel
    gate: ModelGate
    agent: str = LEAD
    state: Mapping[str, object] = field(default_factory=dict)

    async def ask(self, messages: Sequence[BaseMessage], seconds: float) -> str:
        answer = await internal_call(self, self.state, Purpose.MEMORY, messages, seconds=seconds)
        if answer.message is None:
            # Another flush may have the step that this one lacks.
            raise Unanswered(answer.error or "there was no answer")
        return text_of(answer.message)


async def flush_waiting(
    document: RunDocument, open_store: OpenStore, *, due: bool, api_key: str | None, clock: Clock
) -> list[Updated]:
    """Draw facts from the snapshots of the document's namespace and profile: those that are due, or all.

    `document` is as `sketch` makes it of a profile. The store is asked anew before each group: another flush may be at
    work, and two updates of one snapshot would cost twice.

    Raises:
        RunEnded: the profile's model can't be made, or its script does not fit.
        Exception: whatever the store raises; what is done by then is done.
    """
    settings = document.pipeline.memory
    async with open_store() as store:
        book = MemoryBook(store, document.run.namespace)
        now = clock() if due else None
        keys = [group[0].key for group in due_groups(await book.waiting(), now, profile=document.profile)]
        if not keys:
            return []
        built = await asyncio.to_thread(build_model, document.model, run=document.run.uid, api_key=api_key)
        calls = ModelCalls(
            endpoint=built.endpoint,
            journal=Nowhere(),
            settings=document.pipeline.llm_error_handling,
            clock=clock,
        )
        caller = _Caller(built, calls.gate)

        async def ask(messages: Sequence[BaseMessage]) -> str:
            return await caller.ask(messages, settings.flush_timeout_seconds)

        done: list[Updated] = []
        for key in keys:
            groups = due_groups(await book.waiting(), now, profile=document.profile)
            mine = [each for each in groups if each[0].key == key]
            done += [await flush_group(book, group, ask, settings, clock()) for group in mine]
        return done
