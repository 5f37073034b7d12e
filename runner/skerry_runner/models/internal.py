"""Calls of the model that are nobody's turn: title, summary, memory. One helper, so that all are counted and guarded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from langchain.agents.middleware.internal_call_transformer import internal_call_metadata
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.constants import TAG_NOSTREAM
from langgraph.errors import GraphBubbleUp

from skerry_runner.models.observer import AGENT_KEY, PURPOSE_KEY
from skerry_runner.models.scripted.model import ScriptedModel
from skerry_runner.models.scripted.playhead import Part
from skerry_runner.models.scripted.schema import Purpose
from skerry_runner.outcome import RunEnded

if TYPE_CHECKING:
    from skerry_runner.context import RunContext
    from skerry_runner.models.build import BuiltModel

__all__ = ["InternalAnswer", "InternalCaller", "ModelGate", "Purpose", "answers", "internal_call", "ungated"]

ModelGate = Callable[[Callable[[], Awaitable[AIMessage]]], Awaitable[AIMessage]]
"""Makes a call as the endpoint's breaker and retries allow; raises what the call raised, or that it may not be made."""


async def ungated(call: Callable[[], Awaitable[AIMessage]]) -> AIMessage:
    """No breaker, one attempt."""
    return await call()


@dataclass(frozen=True)
class InternalAnswer:
    """The message, or why there is none: then the caller takes its local fallback.

    `update` belongs into graph state either way.
    """

    message: AIMessage | None
    error: str | None = None
    unscripted: bool = False
    """The model is scripted and its script says nothing to this."""
    update: dict[str, Any] = field(default_factory=dict)


class _UnscriptedError(Exception):
    """A script need not answer internal calls."""


def _voice(
    model: BaseChatModel, purpose: Purpose, state: Mapping[str, Any]
) -> tuple[BaseChatModel, str | None]:
    """The model as the purpose calls it, and the key of its place in a script."""
    if not isinstance(model, ScriptedModel):
        return model, None
    part, playhead = Part(purpose=purpose), model.playhead
    key = f"{playhead.key}#{purpose}"
    playhead.seed(part, (state.get("script") or {}).get(key, 0))
    return model.for_part(part), key


def answers(context: RunContext, purpose: Purpose, state: Mapping[str, Any]) -> bool:
    """Whether a script has a step left for the purpose; a script that says it wants it played."""
    model = context.model.model if context.model is not None else None
    if not isinstance(model, ScriptedModel):
        return False
    voice, _ = _voice(model, purpose, state)
    return isinstance(voice, ScriptedModel) and voice.playhead.has_next(voice.part)


class InternalCaller(Protocol):
    """Who makes internal calls: a run's context, or what flushes memories without a run."""

    @property
    def agent(self) -> str: ...
    @property
    def model(self) -> BuiltModel | None: ...
    @property
    def gate(self) -> ModelGate: ...


async def internal_call(
    context: InternalCaller,
    state: Mapping[str, Any],
    purpose: Purpose,
    messages: Sequence[BaseMessage],
    *,
    seconds: float,
    model: BuiltModel | None = None,
    callbacks: Sequence[BaseCallbackHandler] | None = None,
) -> InternalAnswer:
    """Ask the run's model something, without tools; its tokens count for the run, under `internal`.

    `model` is another of the same endpoint; a scripted run speaks through its script alone.

    Within a node or wrap hook the run's callbacks are taken from there; elsewhere give them.

    Raises:
        RunEnded: the script does not fit the run.
        asyncio.CancelledError, GraphBubbleUp: as ever.
    """
    if context.model is None:
        return InternalAnswer(None, "there is no model for internal calls")
    own = context.model.model
    voice, key = _voice(
        own if model is None or isinstance(own, ScriptedModel) else model.model, purpose, state
    )
    config: RunnableConfig = {
        "run_name": purpose,
        "tags": [TAG_NOSTREAM],
        "metadata": {**internal_call_metadata(), AGENT_KEY: context.agent, PURPOSE_KEY: purpose.value},
    }

    if callbacks is not None:
        config["callbacks"] = list(callbacks)

    async def attempt() -> AIMessage:
        if isinstance(voice, ScriptedModel) and not voice.playhead.has_next(voice.part):
            raise _UnscriptedError(f"the script has no step left for the purpose {purpose}")
        return await voice.ainvoke(list(messages), config)

    unscripted = isinstance(voice, ScriptedModel) and not voice.playhead.has_next(voice.part)
    message, error = await _bounded(context, attempt, seconds)
    update = (
        {"script": {key: voice.playhead.position(voice.part)}} if isinstance(voice, ScriptedModel) else {}
    )
    return InternalAnswer(message, error, unscripted, update)


async def _bounded(
    context: InternalCaller, call: Callable[[], Awaitable[AIMessage]], seconds: float
) -> tuple[AIMessage | None, str | None]:
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await context.gate(call), None
    except (GraphBubbleUp, RunEnded):
        raise
    except _UnscriptedError as error:
        return None, str(error)
    except Exception as error:  # noqa: BLE001 - whatever it was, the run goes on without this answer
        if limit.expired():
            return None, f"no answer within {seconds:g} s"
        return None, f"{type(error).__name__}: {error}"
