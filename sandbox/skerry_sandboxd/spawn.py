"""Start commands through the spawner, and hold the handle of each: its exit, its end, its whole tree."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from skerry_sandboxd.proctree import kill_descendants, read_proc, send_to, signal_descendants

__all__ = ["Child", "Command", "ExitStatus", "SpawnError", "Spawner", "SupervisorLost"]

SHELL: Final = "/bin/bash"
# One argument of execve may have 128 KiB; a longer script goes through a memory file.
_MAX_ARGUMENT: Final = 100 * 1024
_SCRIPT_FD: Final = 63
_STRAY_TURNS: Final = 1000
_TURN_SECONDS: Final = 0.005


class SpawnError(Exception):
    """A command could not be started; it did not run. `stage` is prepare, fork, cwd or exec."""

    def __init__(self, stage: str, number: int) -> None:
        super().__init__(f"{stage}: {os.strerror(number)}")
        self.stage: Final = stage
        self.errno: Final = number


class SupervisorLost(Exception):
    """The supervisor vanished (somebody of our uid killed it): whether and how the command ended is unknown."""


@dataclass(frozen=True)
class Command:
    """A shell command with everything around it. `stdin` None means /dev/null; a descriptor is taken over."""

    script: str
    cwd: str
    env: Mapping[str, str]


@dataclass(frozen=True)
class ExitStatus:
    """Exactly one of `code` and `signal` (its name) is set."""

    code: int | None
    signal: str | None

    @classmethod
    def of_wait(cls, status: int) -> "ExitStatus":
        """From a wait(2) status."""
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            try:
                return cls(None, signal.Signals(number).name)
            except ValueError:
                return cls(None, f"SIG{number}")
        return cls(os.WEXITSTATUS(status), None)


class Child:
    """A started command. `exit` resolves when it ends, `gone` when its last descendant has."""

    def __init__(self, status: socket.socket) -> None:
        self._loop = asyncio.get_running_loop()
        self._status = status
        self.pid = 0
        self.supervisor = 0
        self.started: asyncio.Future[None] = self._loop.create_future()
        self.exit: asyncio.Future[ExitStatus] = self._loop.create_future()
        self.gone = asyncio.Event()
        status.setblocking(False)
        self._loop.add_reader(status.fileno(), self._on_status)

    def signal_group(self, number: int) -> int:
        """Signal the command's own process group. Returns how many processes got it."""
        if self.gone.is_set():
            return 0
        return signal_descendants(self.supervisor, number, pgrp=self.pid)

    def signal_tree(self, number: int) -> int:
        """Signal all that the command started, wherever it went. Returns how many processes got it."""
        if self.gone.is_set():
            return 0
        return signal_descendants(self.supervisor, number)

    async def end_tree(self, grace: float) -> None:
        """SIGTERM to all, SIGKILL after `grace` seconds to what is left; returns when nothing is."""
        if grace > 0 and not self.gone.is_set():
            await asyncio.to_thread(self.signal_tree, signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.gone.wait(), grace)
        while not self.gone.is_set():
            await asyncio.to_thread(kill_descendants, self.supervisor)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.gone.wait(), 0.2)

    def _on_status(self) -> None:
        try:
            data = self._status.recv(512)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._on_end()
            return
        message = json.loads(data)
        if "error" in message:
            self.started.set_exception(SpawnError(message["stage"], message["error"]))
        elif "started" in message:
            self.pid = message["started"]
            self.supervisor = message["supervisor"]
            self.started.set_result(None)
        elif "exit" in message:
            self.exit.set_result(ExitStatus.of_wait(message["exit"]))

    def _on_end(self) -> None:
        self._loop.remove_reader(self._status.fileno())
        self._status.close()
        for future in (self.started, self.exit):
            if not future.done():
                future.set_exception(SupervisorLost("the command's supervisor was killed"))
                future.exception()  # it may well be that nobody waits
        self.gone.set()


class Spawner:
    """Owns the spawner process; a killed one is replaced at the next start."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._children: set[Child] = set()

    def start(self) -> None:
        """Start the spawner process. Raises OSError."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        keep = {k: v for k, v in os.environ.items() if k in {"PATH", "PYTHONPATH", "PYTHONHOME", "LANG"}}
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "skerry_sandboxd.spawner", str(theirs.fileno())],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=keep, cwd="/",
            )  # fmt: skip
        self._control = ours

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    async def spawn(self, command: Command, *, stdin: int | None, stdout: int, stderr: int) -> Child:
        """Start `command` on these descriptors (ours to close). Raises SpawnError or SupervisorLost."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        child = Child(ours)
        with theirs, contextlib.ExitStack() as stack:
            request = stack.enter_context(os.fdopen(os.memfd_create("request"), "w+b"))
            request.write(_request(command))
            request.flush()
            if stdin is None:
                stdin = os.open(os.devnull, os.O_RDONLY)
                stack.callback(os.close, stdin)
            self._send([request.fileno(), stdin, stdout, stderr, theirs.fileno()])
        try:
            await child.started
        except SupervisorLost:
            await self.end_strays(child)
            raise
        self._children = {each for each in self._children if not each.gone.is_set()} | {child}
        return child

    async def end_strays(self, lost: Child) -> None:
        """End what a killed supervisor left to us: all our children but the spawner and living supervisors.

        A dying process closes its sockets first and hands over its children later, so we may be early.
        """
        for _ in range(_STRAY_TURNS):
            early = await asyncio.to_thread(_dying, lost.supervisor)
            ours = {self.pid, *(child.supervisor for child in self._children if not child.gone.is_set())}
            await asyncio.to_thread(_end_strays, frozenset(ours))
            if not early:
                return
            await asyncio.sleep(_TURN_SECONDS)

    def poll(self) -> None:
        """Collect a spawner that has ended, so that it hides no orphan from the reaper."""
        if self._process is not None:
            self._process.poll()

    def _send(self, fds: list[int]) -> None:
        if self._control is None:
            self.start()
        try:
            self._sendmsg(fds)
        except (BrokenPipeError, ConnectionResetError):
            # The request did not arrive, so it can't have run.
            self.close()
            self.start()
            self._sendmsg(fds)

    def _sendmsg(self, fds: list[int]) -> None:
        if self._control is None:
            raise BrokenPipeError
        socket.send_fds(self._control, [b"s"], fds)

    def close(self) -> None:
        """Let the spawner end. Supervisors live on until their status sockets close."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(5)
        self._control = self._process = None


def _dying(pid: int) -> bool:
    proc = read_proc().get(pid)
    return proc is not None and proc.state not in {"Z", "X"}


def _end_strays(ours: frozenset[int | None]) -> None:
    for proc in read_proc().values():
        if proc.ppid == os.getpid() and proc.pid not in ours and proc.state != "Z":
            kill_descendants(proc.pid)
            send_to(proc, signal.SIGKILL)


def _request(command: Command) -> bytes:
    script = command.script
    long = len(script.encode("utf-8")) > _MAX_ARGUMENT
    argv = [SHELL, "-c", f". /proc/self/fd/{_SCRIPT_FD}" if long else script]
    request: dict[str, object] = {"argv": argv, "cwd": command.cwd, "env": dict(command.env)}
    if long:
        request |= {"script": script, "scriptFd": _SCRIPT_FD}
    return json.dumps(request).encode("utf-8")
