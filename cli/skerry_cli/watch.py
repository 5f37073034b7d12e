"""`skerry watch`: a run's status and its journal as they grow, live by port-forward, else from the Pod's log."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import httpx

from skerry_api.phases import RunPhase
from skerry_api.stream import STREAM_PATH, STREAM_PORT, StreamEvent
from skerry_cli.kubectl import Kubectl, KubectlError, find_kubectl
from skerry_cli.output import ListOutput
from skerry_cli.sse import server_sent_events, stream_lines
from skerry_cli.story import is_over, pod_to_read, told
from skerry_runner.local.progress import told as told_of_event

__all__ = ["Watcher", "watch"]

Json = dict[str, Any]
_READ_SECONDS = 60.0
"""Heartbeats come every 15 s: a stream silent for longer is dead."""
_LOG_SECONDS = 20.0
"""How long the rest of a journal is waited for once the run is over."""
_RETRY_SECONDS = 0.5
BAD_INPUT = 2


def watch(name: str, namespace: str | None, context: str | None, output: ListOutput) -> int:
    """Watch to the end; 0: Succeeded, 1: any other end, 2: there is no such run or no way to it."""

    def say(line: str) -> None:
        print(line, flush=True)

    def tell(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    try:
        kubectl = Kubectl(find_kubectl(os.environ), namespace, context)
        watcher = Watcher(kubectl, name, say, tell, as_json=output is ListOutput.JSON)
        run = asyncio.run(watcher.follow())
    except KubectlError as error:
        tell(f"skerry: {error}")
        return BAD_INPUT
    except KeyboardInterrupt:
        return 130
    return 0 if run["status"]["phase"] == RunPhase.SUCCEEDED else 1


class Journal:
    """The journal of one epoch, read once from whichever place has it; lines come in order and never twice."""

    def __init__(self, kubectl: Kubectl, pod: str) -> None:
        self._kubectl, self._pod = kubectl, pod
        self._seen = 0

    async def lines(self) -> AsyncGenerator[bytes, None]:
        """To the end of the epoch. Raises KubectlError when no place has the rest."""
        try:
            async with aclosing(self._live()) as live:
                async for line in live:
                    yield line
        except (KubectlError, httpx.HTTPError, _Incomplete):
            # Not up yet, over already, or no right to forward ports: the log has all of it.
            async with aclosing(self._logged()) as logged:
                async for line in logged:
                    yield line

    async def _logged(self) -> AsyncGenerator[bytes, None]:
        async with aclosing(self._kubectl.lines("logs", "--follow", self._pod)) as lines:
            async for line in lines:
                if self._is_news(line):
                    yield line

    async def _live(self) -> AsyncGenerator[bytes, None]:
        async with (
            self._kubectl.forward(self._pod, STREAM_PORT) as port,
            httpx.AsyncClient(trust_env=False, timeout=_READ_SECONDS) as client,
            client.stream("GET", f"http://127.0.0.1:{port}{STREAM_PATH}") as answer,
        ):
            answer.raise_for_status()
            async for event in server_sent_events(stream_lines(answer.aiter_bytes())):
                if event.event == StreamEvent.END:
                    return
                if event.event == StreamEvent.LOST:
                    raise _Incomplete
                line = event.data.encode()
                if self._is_news(line):
                    yield line
        raise _Incomplete

    def _is_news(self, line: bytes) -> bool:
        """Lines that are no journal's (a crash before it) are always told."""
        seq = _seq(line)
        if seq is None:
            return bool(line.strip())
        if seq <= self._seen:
            return False
        self._seen = seq
        return True


def _seq(line: bytes) -> int | None:
    """The number of a journal's line, None for any other."""
    try:
        return int(json.loads(line)["seq"])
    except (ValueError, TypeError, KeyError):
        return None


class _Incomplete(Exception):
    """The live stream ended before the epoch did, or has not kept all."""


@dataclass
class Watcher:
    """`say` gets what stdout does, `tell` what stderr does; a line each."""

    kubectl: Kubectl
    name: str
    say: Callable[[str], None]
    tell: Callable[[str], None]
    as_json: bool = False

    async def follow(self) -> Json:
        """The run as it ended. Raises KubectlError when it can't be read."""
        journals: dict[str, asyncio.Task[None]] = {}
        last: Json | None = None
        try:
            async with aclosing(self._states()) as states:
                async for run in states:
                    for line in told(last, run):
                        (self.tell if self.as_json else self.say)(line)
                    last = run
                    pod = pod_to_read(run)
                    if pod and pod not in journals:
                        journals[pod] = asyncio.create_task(self._read(pod))
                    if is_over(run):
                        break
            if journals:
                await asyncio.wait(journals.values(), timeout=_LOG_SECONDS)
        finally:
            for task in journals.values():
                task.cancel()
            await asyncio.gather(*journals.values(), return_exceptions=True)
        if last is None:
            raise KubectlError(f"AgentRun {self.name} is gone")
        return last

    async def _states(self) -> AsyncGenerator[Json, None]:
        """Every state of the run; a watch that ends is begun again, as long as the run is there."""
        while True:
            await self.kubectl.json("get", "agentrun", self.name)
            try:
                async with aclosing(self.kubectl.watch("agentrun", self.name)) as states:
                    async for run in states:
                        yield run
            except KubectlError as error:
                self.tell(f"the watch broke off: {error}")
            await asyncio.sleep(_RETRY_SECONDS)

    async def _read(self, pod: str) -> None:
        try:
            async with aclosing(Journal(self.kubectl, pod).lines()) as lines:
                async for line in lines:
                    self._show(line)
        except KubectlError as error:
            self.tell(f"the journal of {pod}: {error}")

    def _show(self, line: bytes) -> None:
        text = line.decode(errors="replace")
        if self.as_json:
            # A Pod's log holds more than the journal: the runner's own log, a crash before it.
            (self.tell if _seq(line) is None else self.say)(text)
            return
        try:
            words = told_of_event(json.loads(line))
        except ValueError:
            words = text
        if words:
            self.say(f"    {words}")
