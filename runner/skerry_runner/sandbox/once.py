"""Run a keyed command at most once in this process, and let the same call again have the same result."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Final

from skerry_runner.sandbox.errors import CommandConflict, CommandLost, SandboxUnavailable
from skerry_runner.sandbox.types import ExecResult, OutputHandler

__all__ = ["Once"]

_KEPT: Final = 128


class Once:
    """Keys with their running or finished commands; the newest are kept."""

    def __init__(self) -> None:
        self._calls: OrderedDict[str, tuple[Hashable, asyncio.Task[ExecResult]]] = OrderedDict()

    async def run(
        self,
        key: str,
        content: Hashable,
        start: Callable[[], Awaitable[ExecResult]],
        on_output: OutputHandler | None,
    ) -> ExecResult:
        """`start()` it, or join what has the key. Raises CommandConflict, CommandLost, and what `start` raises.

        Cancelling the call that started it cancels the command, and waits for that.
        """
        if (known := self._calls.get(key)) is not None:
            return await self._join(key, known, content, on_output)

        async def body() -> ExecResult:
            return await start()

        task = asyncio.create_task(body())
        self._calls[key] = (content, task)
        self._drop_old()
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            raise
        except SandboxUnavailable:
            del self._calls[key]  # it could not be started, so nothing ran
            raise

    async def _join(
        self,
        key: str,
        known: tuple[Hashable, asyncio.Task[ExecResult]],
        content: Hashable,
        on_output: OutputHandler | None,
    ) -> ExecResult:
        before, task = known
        if before != content:
            raise CommandConflict(f"key {key} was used with other content")
        await asyncio.wait([task])
        if task.cancelled():
            raise CommandLost("The command was cancelled; it may have run in part and is not run again.")
        result = task.result()
        if on_output is not None:
            for chunk in result.chunks:
                on_output(chunk)
        return result

    def _drop_old(self) -> None:
        for key, (_, task) in list(self._calls.items()):
            if len(self._calls) <= _KEPT:
                return
            if task.done():
                del self._calls[key]
