"""LangSmith's tracing, which LangChain puts around every wrap hook: it must cost nothing while nobody traces."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import Any

import langsmith
from langsmith.utils import tracing_is_enabled

__all__ = ["spare_threads"]


async def _inline(
    default: Callable[..., Awaitable[Any]],
    context: Context,
    func: Callable[..., Any],
    /,
    *args: Any,
    **kwargs: Any,
) -> Any:
    if tracing_is_enabled():
        return await default(context, func, *args, **kwargs)
    return context.run(func, *args, **kwargs)


def spare_threads() -> None:
    """Keep the book-keeping of a trace that nobody takes on the event loop, for the whole process.

    It is a few dictionary look-ups; by default each wrap sends it to a thread and back, twice, which costs a turn
    more than all of our rows do.
    """
    langsmith.set_runtime_overrides(aio_to_thread=_inline)
