"""Follows one AgentRun to its end: its status by a watch, the runner's journal by its Pod's log."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TextIO

from demo.story import is_over, pod_to_read, told
from demo.target import DemoFailed, Target
from skerry_runner.local.progress import told as told_of_event

__all__ = ["Follower", "objects"]

Json = dict[str, Any]
_WATCH = "get agentrun {} --watch --output=json"
LOG_SECONDS = 20
"""How long the rest of a log is waited for once the run is over."""


def objects(lines: Iterable[str]) -> Iterator[Json]:
    """JSON objects as `kubectl -w -o json` prints them: each over several lines, the last of them a lone brace."""
    gathered: list[str] = []
    for line in lines:
        gathered.append(line)
        if line.rstrip("\n") == "}":
            yield json.loads("".join(gathered))
            gathered = []


class Follower:
    """`say` gets a line at a time, from one thread only."""

    def __init__(self, target: Target, namespace: str, name: str, say: Callable[[str], None]) -> None:
        self._target, self._namespace, self._name, self._say = target, namespace, name, say
        self._queue: queue.Queue[tuple[str, Any]] = queue.Queue()
        self._children: list[subprocess.Popen[str]] = []
        self._readers: list[threading.Thread] = []
        self._reading: set[str] = set()
        self._over = threading.Event()
        self._open_logs = 0
        self._last: Json | None = None
        self._deadline = 0.0

    def follow(self, within: float) -> Json:
        """The run as it ended. Raises DemoFailed when it does not end in `within` seconds."""
        self._start(_WATCH.format(self._name), self._watch)
        self._deadline = time.monotonic() + within
        try:
            while self._last is None or not is_over(self._last) or self._open_logs:
                try:
                    kind, value = self._queue.get(timeout=max(0.0, self._deadline - time.monotonic()))
                except queue.Empty:
                    if self._last is not None and is_over(self._last):
                        break  # a log that does not end keeps nobody
                    raise DemoFailed(f"{self._name} did not end in time: {json.dumps(self._last)}") from None
                self._handle(kind, value)
        finally:
            self._over.set()
            for child in self._children:
                child.kill()
                child.wait()
            for reader in self._readers:
                reader.join()
        return self._last

    def _handle(self, kind: str, value: Any) -> None:
        if kind == "run":
            self._see(value)
        elif kind == "line":
            self._say(f"    {value}")
        elif kind == "log ended":
            self._open_logs -= 1
        elif self._last is None or not is_over(self._last):
            # Watches end now and then; the new one begins with the present state.
            self._start(_WATCH.format(self._name), self._watch)

    def _see(self, run: Json) -> None:
        for line in told(self._last, run):
            self._say(line)
        self._last = run
        pod = pod_to_read(run)
        if pod and pod not in self._reading:
            self._reading.add(pod)
            self._open_logs += 1
            self._start(f"logs --follow {pod}", self._log)
        if is_over(run):
            self._deadline = time.monotonic() + LOG_SECONDS

    def _start(self, arguments: str, reader: Callable[[TextIO], None]) -> None:
        command = [*self._target.kubectl, "--namespace", self._namespace, *arguments.split()]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        self._children.append(child)
        thread = threading.Thread(target=reader, args=(child.stdout,), daemon=True)
        self._readers.append(thread)
        thread.start()

    def _watch(self, stream: TextIO) -> None:
        began = False
        with stream:
            for each in objects(stream):
                began = True
                self._queue.put(("run", each))
        if not began:
            self._over.wait(0.5)  # kubectl could not even begin: no hot loop
        self._queue.put(("watch ended", None))

    def _log(self, stream: TextIO) -> None:
        with stream:
            for line in stream:
                try:
                    words = told_of_event(json.loads(line))
                except ValueError:
                    words = line.rstrip()  # a crash before the journal
                if words:
                    self._queue.put(("line", words))
        self._queue.put(("log ended", None))
