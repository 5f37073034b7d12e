"""All executions by key: at most once each, a bounded number at a time, finished ones kept while there is room."""

import asyncio
import hashlib
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from typing import Final

from skerry_api.sandboxd_api import ExecutionRequest, Reason
from skerry_api.sandboxd_events import Event, ExitEvent, GapEvent, LostEvent
from skerry_sandboxd.clock import Clock
from skerry_sandboxd.errors import ApiError
from skerry_sandboxd.execution import Execution
from skerry_sandboxd.idle import IdleClock
from skerry_sandboxd.ledger import Entry, Ledger
from skerry_sandboxd.settings import Limits
from skerry_sandboxd.spawn import Command, Spawner, SpawnError, SupervisorLost

__all__ = ["Executions", "fingerprint", "spawn_failure"]

_LOG: Final = logging.getLogger(__name__)


def fingerprint(request: ExecutionRequest) -> str:
    """Equal for equal content; the key is not part of it."""
    canonical = request.model_dump_json(exclude={"key"})
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


def spawn_failure(error: SpawnError, command: Command) -> ApiError:
    """A failed start in the caller's terms."""
    if error.stage == "cwd":
        return ApiError(Reason.INVALID_REQUEST, f"cwd: {command.cwd}: {error}", field="cwd")
    if error.stage == "exec":
        return ApiError(Reason.INVALID_REQUEST, f"the command can't be started: {error}", field="command")
    return ApiError(Reason.BUSY, f"no process can be started now: {error}")


class Executions:
    """The registry. One lock-free rule: a key is taken, in memory and in the ledger, before anything is awaited."""

    def __init__(
        self, *, spawner: Spawner, ledger: Ledger, idle: IdleClock, clock: Clock,
        limits: Limits, cwd: str, env: Mapping[str, str],
    ) -> None:  # fmt: skip
        self._spawner = spawner
        self._ledger = ledger
        self._idle = idle
        self._clock = clock
        self._limits = limits
        self._cwd = cwd
        self._env = env
        self._live: dict[str, Execution] = {}
        self._finished: OrderedDict[str, Execution] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self.stopping = False

    @property
    def active(self) -> int:
        return len(self._live)

    async def events(self, request: ExecutionRequest, after: int) -> AsyncIterator[Event]:
        """Run `request`, or join the execution that has its key; returns the stream of its events.

        Raises ApiError (KeyConflict, Busy, ShuttingDown, InvalidRequest).
        """
        self._refuse_while_stopping()
        mark = fingerprint(request)
        known = self._live.get(request.key) or self._finished.get(request.key)
        entry = self._ledger.get(request.key)
        found = known.fingerprint if known else entry.fingerprint if entry else mark
        if found != mark:
            raise ApiError(Reason.KEY_CONFLICT, f"key {request.key} was used with other content", field="key")
        if known is None and entry is not None:
            return _from_ledger(entry, after)
        if known is None:
            known = await self._start(request, mark)
        await asyncio.shield(known.started)
        return known.events(after)

    def attach(self, key: str, after: int) -> AsyncIterator[Event]:
        """The stream of a known execution. Raises ApiError (NotFound, ShuttingDown)."""
        self._refuse_while_stopping()
        known = self._live.get(key) or self._finished.get(key)
        if known is not None:
            return known.events(after)
        entry = self._ledger.get(key)
        if entry is None:
            raise ApiError(Reason.NOT_FOUND, f"no execution has the key {key}")
        return _from_ledger(entry, after)

    async def kill(self, key: str, grace: float) -> ExitEvent | LostEvent | None:
        """End the whole tree of an execution; None if its end is already forgotten. Raises ApiError (NotFound)."""
        known = self._live.get(key) or self._finished.get(key)
        if known is None:
            if self._ledger.get(key) is None:
                raise ApiError(Reason.NOT_FOUND, f"no execution has the key {key}")
            return None
        await known.kill(grace)
        while not known.log.finished:
            await known.log.changed.wait()
        return known.end

    async def stop(self, grace: float) -> None:
        """Take nothing new and end every tree."""
        self.stopping = True
        trees = [*self._live.values(), *self._finished.values()]
        await asyncio.gather(*(execution.abandon(grace) for execution in trees))
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _start(self, request: ExecutionRequest, mark: str) -> Execution:
        self._admit()
        execution = Execution(request, mark, self._clock)
        self._ledger.put(request.key, Entry(mark))
        self._live[request.key] = execution
        command = Command(request.command, request.cwd or self._cwd, {**self._env, **request.env})
        # A task of its own: the caller may hang up while we start.
        task = asyncio.create_task(self._run(execution, command))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return execution

    def _refuse_while_stopping(self) -> None:
        if self.stopping:
            raise ApiError(Reason.SHUTTING_DOWN, "the sandbox is shutting down")

    def _admit(self) -> None:
        if len(self._live) >= self._limits.running:
            raise ApiError(Reason.BUSY, f"{self._limits.running} commands are running")
        left = sum(execution.tree_alive for execution in self._finished.values())
        if len(self._live) + left >= self._limits.live_trees:
            raise ApiError(Reason.BUSY, f"{left} ended commands have left processes running")

    async def _run(self, execution: Execution, command: Command) -> None:
        self._idle.begin()
        try:
            await execution.start(self._spawner, command)
            await execution.run(self._spawner, self._limits.kill_grace_seconds)
        except SpawnError as error:
            # Nothing ran, so the key is free again.
            self._ledger.void(execution.key)
            _refuse(execution, spawn_failure(error, command))
        except SupervisorLost as error:
            execution.end = LostEvent(message=str(error))
            execution.log.finish()
            if not execution.started.done():
                execution.started.set_result(0)
        except Exception as error:  # noqa: BLE001  # logged; whoever waits must hear of an end
            _LOG.exception("execution failed", extra={"key": execution.key})
            execution.end = LostEvent(message=f"sandboxd failed: {error}")
            execution.log.finish()
            if not execution.started.done():
                execution.started.set_result(0)
        finally:
            self._idle.end()
            self._live.pop(execution.key, None)
            if execution.end is not None:
                self._keep(execution)

    def _keep(self, execution: Execution) -> None:
        end = execution.end if isinstance(execution.end, ExitEvent) else None
        size = execution.log.end + execution.log.dropped
        try:
            self._ledger.put(execution.key, Entry(execution.fingerprint, end, size))
        except OSError:
            _LOG.warning("ledger not written", exc_info=True, extra={"key": execution.key})
        self._finished[execution.key] = execution
        held = sum(each.log.retained for each in self._finished.values())
        for key, oldest in list(self._finished.items()):
            if held <= self._limits.retained_bytes and len(self._finished) <= self._limits.finished:
                break
            held -= oldest.log.retained
            oldest.log.forget()
            if not oldest.tree_alive:  # else its tree could no longer be ended
                del self._finished[key]


def _refuse(execution: Execution, error: ApiError) -> None:
    execution.started.set_exception(error)
    execution.started.exception()  # the caller may have hung up
    execution.log.finish()


async def _from_ledger(entry: Entry, after: int) -> AsyncIterator[Event]:
    if entry.output > after:
        yield GapEvent(offset=after, dropped_bytes=entry.output - after)
    yield entry.exit or LostEvent(
        message="sandboxd was restarted while the command ran; it may have run in part"
    )
