"""What the runner's core needs from outside: reporter, sandboxes, journal, clock. Implemented twice, in a cluster and locally.

Imports neither LangChain nor a Kubernetes client, so that every edge can name these types cheaply.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from typing_extensions import override

from skerry_api.report import Outcome, Progress, Question, RunArtifact, Usage
from skerry_runner.files import GivenFile
from skerry_runner.sandbox.errors import SandboxLost
from skerry_runner.skills import Skill

if TYPE_CHECKING:
    from skerry_api.phases import StopReason
    from skerry_runner.events import Event
    from skerry_runner.sandbox.types import FileInfo, Sandbox

__all__ = [
    "CancelReason", "Cancellation", "Clock", "Jitter", "JournalPort", "NewId", "Nobody", "Ports", "Questions", "Reporter", "RunResult",
    "SandboxLost", "SandboxProvider", "ThreadFiles", "Timing",
]  # fmt: skip

Clock = Callable[[], datetime]
"""Now, as an aware datetime in UTC."""
NewId = Callable[[], str]
"""A fresh identifier, never the same twice."""

Jitter = Callable[[float, float], float]
"""A random number between two bounds, as random.uniform gives it."""


class CancelReason(StrEnum):
    """Why a run is told to stop from outside."""

    CANCELLED = "Cancelled"
    """Somebody set spec.cancel, or pressed Ctrl-C on a laptop: the end of the run."""
    INTERRUPTED = "Interrupted"
    """SIGTERM in a cluster: the end of this process alone."""
    FENCED = "Fenced"
    """Another epoch or Pod has taken over: the result is Interrupted and must not be reported."""


class Cancellation:
    """An event with a reason; the first request wins, later ones change nothing."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._reason: CancelReason | None = None

    @property
    def reason(self) -> CancelReason | None:
        """Why, once requested."""
        return self._reason

    def request(self, reason: CancelReason) -> None:
        """Ask the run to stop. Call it from the event loop's thread (a loop's signal handler is fine)."""
        if self._reason is None:
            self._reason = reason
            self._event.set()

    async def wait(self) -> CancelReason:
        """Return the reason once somebody asked."""
        await self._event.wait()
        assert self._reason is not None  # noqa: S101 - request() sets both
        return self._reason


@dataclass(frozen=True)
class RunResult:
    """How one epoch ended. `answer` is already cut to ANSWER_MAX bytes, `answer_id` its message's id; `sandbox_id`
    only if one was acquired.

    `question` only with the outcome AwaitingInput.
    """

    outcome: Outcome
    stop_reason: StopReason | None = None
    answer: str | None = None
    usage: Usage = field(default_factory=Usage)
    progress: Progress = field(default_factory=Progress)
    sandbox_id: str | None = None
    artifacts: tuple[RunArtifact, ...] | None = None
    question: Question | None = None
    answer_id: str | None = field(default=None, compare=False)
    """Random, so that it is no part of how a run ended."""


class Reporter(Protocol):
    """Tells the world how the run goes. Retries on its own; raises only asyncio.CancelledError."""

    async def started(self) -> None:
        """The run begins."""
        ...

    def progress(
        self, progress: Progress, usage: Usage, artifacts: tuple[RunArtifact, ...] | None = None
    ) -> None:
        """Newest counters, and what was presented so far. Never blocks: the reporter decides when to write, latest wins."""
        ...

    async def first_tool_call(self, progress: Progress, usage: Usage) -> None:
        """Report the first tool call of the epoch; returns once the report was accepted, and not before."""
        ...

    async def sandbox_acquired(self, sandbox_id: str) -> None:
        """The run works in this sandbox from now on (`status.sandboxId`)."""
        ...

    async def ended(self, result: RunResult) -> None:
        """The terminal report; the last call."""
        ...


class Questions(Protocol):
    """Where the agent's questions go, and where answers come from."""

    async def ask(self, question: Question) -> str | None:
        """The answer: at once if it is there already, else after however long it takes people to give it.

        None: nobody waits for it in this epoch. The run pauses, and the answer starts another one.
        """
        ...


class Nobody(Questions):
    """Never answers: every question pauses the run."""

    @override
    async def ask(self, question: Question) -> str | None:
        return None


class ThreadFiles(Protocol):
    """The thread's files, by virtual paths, as Sandbox has them. All methods raise SandboxError."""

    async def read_file(self, path: str, *, offset: int = 0, limit: int | None = None) -> bytes: ...

    async def write_file(self, path: str, data: bytes, *, append: bool = False) -> int: ...

    async def stat(self, path: str) -> FileInfo: ...


class SandboxProvider(Protocol):
    """Where a sandbox comes from. In a cluster, `acquire` publishes the sandboxRequest and waits for Ready."""

    @property
    def current(self) -> Sandbox | None:
        """The sandbox held now."""
        ...

    @property
    def thread_files(self) -> ThreadFiles | None:
        """The thread's files where they can be reached without a sandbox; None if only a sandbox has them."""
        ...

    async def acquire(self) -> Sandbox:
        """Get the thread's sandbox; the same one while it is held.

        Raises:
            SandboxError: none could be had this time; the agent is told and may try again.
            SandboxLost: none will be.
        """
        ...

    async def release(self) -> None:
        """Let go of it. Idempotent; whether it is kept or destroyed is not decided here."""
        ...


class JournalPort(Protocol):
    """The append-only record of what happened."""

    def emit(self, event: Event, *, agent: str = "lead") -> None:
        """Append one event. Never blocks, never raises for a sink's sake."""
        ...

    async def flush(self) -> None:
        """Return when all that was emitted is written and synced, as far as the sinks can."""
        ...


@dataclass(frozen=True)
class Timing:
    """Waiting and chance: `monotonic` in seconds, `sleep` waits so many."""

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Jitter = random.uniform


@dataclass(frozen=True)
class Ports:
    """The edges of one run."""

    reporter: Reporter
    sandboxes: SandboxProvider
    journal: JournalPort
    cancellation: Cancellation
    clock: Clock
    new_id: NewId
    timing: Timing = field(default_factory=Timing)
    files: tuple[GivenFile, ...] = ()
    """Given with the run, for its sandbox."""
    skills: tuple[Skill, ...] = ()
    """Of its profile, those that are switched off as well."""
    questions: Questions = field(default_factory=Nobody)
