"""Carries out what is handed to subagents: so many side by side, each within its time, each ended exactly once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp
from typing_extensions import override

from skerry_api.document import RunDocument
from skerry_api.report import Tokens
from skerry_runner.context import RunContext
from skerry_runner.events import Event, SubagentEnd, SubagentStart, clip
from skerry_runner.models.build import BuiltModel
from skerry_runner.outcome import RunEnded
from skerry_runner.subagents.child import build_child, child_config, child_context, part_of
from skerry_runner.subagents.port import Order, Subagents
from skerry_runner.subagents.replay import PLAYED_KEY
from skerry_runner.subagents.result import (
    Ending,
    WorkResult,
    cancelled,
    failed,
    interrupted,
    message_of,
    result_of,
    timed_out,
)
from skerry_runner.subagents.steps import SubagentSteps, restore
from skerry_runner.usage import Counts

__all__ = ["SubagentPool"]

log = logging.getLogger(__name__)


class SubagentPool(Subagents):
    """One for each invocation. `servers`: tools of MCP servers that are there from the start."""

    def __init__(self, document: RunDocument, built: BuiltModel, servers: Sequence[BaseTool] = ()) -> None:
        self._document = document
        self._built = built
        self._servers = tuple(servers)
        self._slots = asyncio.Semaphore(document.pipeline.subagent_limit.max_concurrent)

    @override
    async def work(self, order: Order, context: RunContext) -> ToolMessage:
        async with self._slots:
            return await self._work(order, context)

    async def _work(self, order: Order, context: RunContext) -> ToolMessage:
        kind, ending = order.kind, Ending()
        tell: Callable[[Event], None] = partial(context.journal.emit, agent=kind.name)
        own = child_context(context, order)
        steps = SubagentSteps(order.execution, tell)
        tell(
            SubagentStart(
                id=order.execution,
                call=order.call_id,
                description=clip(order.description),
                prompt=clip(order.prompt),
                chars=len(order.prompt),
                tools=tuple(kind.tools),
                max_turns=kind.max_turns,
                max_tokens=kind.max_tokens,
                timeout_seconds=kind.timeout_seconds,
            )
        )
        try:
            # A holder of its own: whatever the subagent's rows let go of, the lead and its siblings keep.
            async with context.sandbox.hold():
                result = ending.settle(await self._within_time(order, own, steps))
        except asyncio.CancelledError:
            result = ending.settle(cancelled())
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # Nobody cancelled us: something within gave up on its own.
        except RunEnded as ended:
            ending.settle(failed(ended.outcome.reason or ended.outcome.class_.value, ended.outcome.message))
            raise
        except GraphBubbleUp as bubble:
            # The graph's own way to stop: not our error, but this execution has come to its end.
            ending.settle(interrupted(type(bubble).__name__))
            raise
        except BaseException as error:
            ending.settle(failed(type(error).__name__, str(error)))
            raise
        finally:
            tell(_end_of(order, own.tally.counts, ending.settle(cancelled())))
        message = message_of(
            result,
            call_id=order.call_id,
            kind=kind.name,
            execution=order.execution,
            used=own.tally.counts,
        )
        if (playhead := self._built.playhead) is not None:
            message.additional_kwargs[PLAYED_KEY] = playhead.position(part_of(order))
        return message

    async def _within_time(self, order: Order, own: RunContext, steps: SubagentSteps) -> WorkResult:
        limit = asyncio.timeout(order.kind.timeout_seconds)
        try:
            async with limit:
                agent = await asyncio.to_thread(
                    build_child, self._document, self._built, self._servers, order, steps
                )
                state = await agent.ainvoke(
                    {"messages": [HumanMessage(order.prompt, id=f"{order.execution}__prompt")]},
                    child_config(order),
                    context=own,
                )
        except (GraphBubbleUp, RunEnded):
            raise
        except Exception as error:
            if limit.expired():
                return timed_out(order.kind.timeout_seconds, steps.last_words)
            log.exception("subagent %s failed", order.execution)
            return failed(type(error).__name__, str(error))
        # An execution that an earlier epoch has ended gives its state and does nothing more.
        restore(own.tally, state, own.run)
        if (playhead := self._built.playhead) is not None:
            playhead.seed(part_of(order), (state.get("script") or {}).get(playhead.key, 0))
        return result_of(state, own.run)


def _end_of(order: Order, used: Counts, result: WorkResult) -> SubagentEnd:
    return SubagentEnd(
        id=order.execution,
        call=order.call_id,
        status=result.status.value,
        reason=result.reason,
        error=None if result.error is None else clip(result.error),
        steps=used.turns,
        chars=len(result.text),
        usage=Tokens(input=used.input, output=used.output, total=used.total),
    )
