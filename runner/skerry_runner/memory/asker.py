"""The run's own model as memory asks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage

from skerry_runner.memory.update import Ask, Unanswered
from skerry_runner.messages import text_of
from skerry_runner.models.internal import Purpose, internal_call

if TYPE_CHECKING:
    from skerry_runner.context import RunContext

__all__ = ["asker"]


def asker(
    context: RunContext, state: Mapping[str, Any], observer: BaseCallbackHandler, seconds: float
) -> Ask:
    """Ask by the one helper for internal calls, outside the graph; `observer` counts and journals."""

    async def ask(messages: Sequence[BaseMessage]) -> str:
        if context.budget.spent(context.tally.whole) is not None:
            raise Unanswered("the run has used up its budget")
        answer = await internal_call(
            context, state, Purpose.MEMORY, messages, seconds=seconds, callbacks=[observer]
        )
        if answer.message is None:
            raise Unanswered(answer.error or "there was no answer", final=answer.unscripted)
        return text_of(answer.message)

    return ask
