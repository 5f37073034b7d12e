"""A provider of the user's own, found by its dotted path."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from typing import Any

from skerry_runner.guardrail.types import ALLOWED, Decision, GuardedCall, denied
from skerry_runner.outcome import InvalidDocument

__all__ = ["CUSTOM_SECONDS", "Custom", "build_own"]

CUSTOM_SECONDS = 30.0
_WHERE = "spec.guardrail.path"


def build_own(path: str) -> Custom:
    """Import the class and make one without arguments.

    Raises:
        InvalidDocument: there is none, it can't be made, or it has no `decide`.
    """
    module, _, name = path.partition(":")
    try:
        own = getattr(importlib.import_module(module), name)()
    except Exception as error:
        # An import runs the user's code: anything may come of it.
        raise _invalid(f"{path} can't be made: {type(error).__name__}: {error}") from error
    if not callable(getattr(own, "decide", None)):
        raise _invalid(f"{path} has no method `decide`")
    return Custom(own)


class Custom:
    """Its `decide` may be a coroutine function or a plain one, which goes to a thread; it may answer with a boolean."""

    def __init__(self, own: Any) -> None:
        self._own = own

    async def decide(self, call: GuardedCall) -> Decision:
        """See GuardrailProvider.

        Raises:
            TypeError: it answers with something else.
            TimeoutError: it does not answer.
        """
        async with asyncio.timeout(CUSTOM_SECONDS):
            if inspect.iscoroutinefunction(self._own.decide):
                answer = await self._own.decide(call)
            else:
                answer = await asyncio.to_thread(self._own.decide, call)
        if isinstance(answer, bool):
            return ALLOWED if answer else denied("own", "the profile's own policy denies it")
        if not isinstance(answer, Decision):
            raise TypeError(f"decide gave {type(answer).__name__}, no Decision")
        return answer


def _invalid(problem: str) -> InvalidDocument:
    return InvalidDocument("InvalidGuardrail", _WHERE, problem)
