"""All long-running processes by key. They end with a DELETE, by themselves, or with sandboxd."""

import asyncio
import hashlib
import logging
import signal
from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from skerry_api.sandboxd_api import ProcessRequest, ProcessState, Reason, SignalRequest
from skerry_sandboxd.clock import Clock
from skerry_sandboxd.errors import ApiError
from skerry_sandboxd.executions import spawn_failure
from skerry_sandboxd.process import Process
from skerry_sandboxd.settings import Limits
from skerry_sandboxd.spawn import Command, Spawner, SpawnError, SupervisorLost

__all__ = ["Processes"]

_LOG: Final = logging.getLogger(__name__)


class Processes:
    """The registry; ended ones are kept while there is room, so that their last output can be read."""

    def __init__(
        self, *, spawner: Spawner, clock: Clock, limits: Limits, cwd: str, env: Mapping[str, str]
    ) -> None:
        self._spawner = spawner
        self._clock = clock
        self._limits = limits
        self._cwd = cwd
        self._env = env
        self._known: OrderedDict[str, Process] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self.stopping = False

    @property
    def running(self) -> int:
        return sum(not process.ended.is_set() for process in self._known.values())

    async def start(self, request: ProcessRequest) -> ProcessState:
        """Start it, or find the one with its key. Raises ApiError (KeyConflict, Busy, ShuttingDown, InvalidRequest)."""
        mark = hashlib.sha256(request.model_dump_json(exclude={"key"}).encode("utf-8")).hexdigest()
        process = self._known.get(request.key)
        if process is None:
            process = self._begin(request, mark)
        elif process.fingerprint != mark:
            raise ApiError(Reason.KEY_CONFLICT, f"key {request.key} was used with other content", field="key")
        await asyncio.shield(process.started)
        return process.state

    def get(self, key: str) -> Process:
        """Raises ApiError (NotFound)."""
        process = self._known.get(key)
        if process is None:
            raise ApiError(Reason.NOT_FOUND, f"no process has the key {key}")
        return process

    async def signal(self, key: str, request: SignalRequest) -> ProcessState:
        """Raises ApiError (NotFound, Ended)."""
        process = self.get(key)
        count = await process.signal(signal.Signals[request.signal], tree=request.tree)
        if count == 0:
            raise ApiError(Reason.ENDED, f"nothing of process {key} runs any more")
        return process.state

    async def stop(self, grace: float) -> None:
        self.stopping = True
        await asyncio.gather(*(process.kill(grace) for process in self._known.values()))
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _begin(self, request: ProcessRequest, mark: str) -> Process:
        if self.stopping:
            raise ApiError(Reason.SHUTTING_DOWN, "the sandbox is shutting down")
        if len(self._known) >= self._limits.processes:
            self._drop_oldest_ended()
        process = Process(request, mark, self._clock)
        self._known[request.key] = process
        command = Command(request.command, request.cwd or self._cwd, {**self._env, **request.env})
        task = asyncio.create_task(self._run(process, command))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return process

    def _drop_oldest_ended(self) -> None:
        for key, process in self._known.items():
            if process.ended.is_set() and not process.tree_alive:
                del self._known[key]
                return
        raise ApiError(Reason.BUSY, f"{self._limits.processes} processes are running")

    async def _run(self, process: Process, command: Command) -> None:
        try:
            await process.start(self._spawner, command)
        except SpawnError as error:
            self._fail(process, spawn_failure(error, command))
        except SupervisorLost as error:
            self._fail(process, ApiError(Reason.INTERNAL, str(error)))
        except Exception as error:  # noqa: BLE001  # logged; whoever waits must hear of it
            _LOG.exception("process failed to start", extra={"key": process.key})
            self._fail(process, ApiError(Reason.INTERNAL, f"sandboxd failed: {error}"))
        else:
            await process.run(self._spawner)

    def _fail(self, process: Process, error: ApiError) -> None:
        self._known.pop(process.key, None)
        process.ended.set()
        process.started.set_exception(error)
        process.started.exception()  # the caller may have hung up
