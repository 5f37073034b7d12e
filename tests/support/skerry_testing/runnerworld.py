"""The world around the runner's core, in memory: reporter, journal sink, clock; and documents to run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, Self

from typing_extensions import override

from skerry_api.agentprofile import ModelPrice, ToolName
from skerry_api.document import DocumentModel, DocumentRun, DocumentSandbox, RunDocument
from skerry_api.guardrail import Guardrail
from skerry_api.mcp import McpServer
from skerry_api.phases import Acquire
from skerry_api.pipeline import PipelineSettings
from skerry_api.report import Progress, Question, RunArtifact, Usage
from skerry_api.subagents import Subagents
from skerry_runner.journal import Journal
from skerry_runner.ports import Cancellation, Ports, Questions, RunResult, Timing
from skerry_runner.run import run_document
from skerry_testing.fakesandbox import FakeProvider

__all__ = ["SOURCE", "AnsweringPeople", "MemorySink", "RecordingReporter", "RunnerWorld", "document"]

SOURCE = "spec.model.script"


def document(
    script: str | None = "steps: [{say: done}]",
    *,
    model: str = "scripted",
    run: str = "run-uid-1",
    epoch: int = 1,
    prompt: str = "Please do it.",
    thread: str = "thread-1",
    tools: Iterable[ToolName] | None = None,
    max_turns: int = 20,
    max_tokens: int | None = None,
    max_cost: int | None = None,
    price: tuple[int, int] | None = None,
    acquire: Acquire = Acquire.LAZY,
    base_url: str | None = None,
    parameters: dict[str, str] | None = None,
    sandbox_id: str = "sbx-1",
    vision: bool = False,
    pipeline: dict[str, Any] | None = None,
    mcp_servers: Iterable[dict[str, Any]] = (),
    guardrail: dict[str, Any] | None = None,
    subagents: dict[str, Any] | None = None,
) -> RunDocument:
    """A run document with defaults that a test does not care for; `pipeline` and the like in their wire form.

    `price` is of input and output, in micro-dollars for a million tokens.
    """
    given = [tool for tool in ToolName if vision or tool is not ToolName.VIEW_IMAGE]
    return RunDocument(
        run=DocumentRun(namespace="ns", name="hello", uid=run, generation=1, epoch=epoch),
        user_id="user",
        thread_id=thread,
        profile="profile",
        prompt=prompt,
        system_prompt="You are an agent.",
        model=DocumentModel(
            name=model,
            script=script,
            script_source=SOURCE,
            base_url=base_url,
            parameters=parameters or {},
            vision=vision,
            price=None
            if price is None
            else ModelPrice(input_micro_usd_per_million=price[0], output_micro_usd_per_million=price[1]),
        ),
        sandbox=DocumentSandbox(sandbox_id=sandbox_id, class_name="default", acquire=acquire),
        tools=tuple(given if tools is None else tools),
        guardrail=None if guardrail is None else Guardrail.model_validate(guardrail),
        mcp_servers=tuple(McpServer.model_validate(server) for server in mcp_servers),
        subagents=Subagents.model_validate(subagents or {}),
        pipeline=PipelineSettings.model_validate(pipeline or {}),
        max_turns=max_turns,
        max_tokens=max_tokens,
        max_cost_micro_usd=max_cost,
    )


@dataclass
class MemorySink:
    """Keeps lines; `full` makes it refuse them as a full disk would, `unsynced` what was written as a bad one."""

    name = "memory"

    lines: list[bytes] = field(default_factory=list)
    synced: int = 0
    full: bool = False
    unsynced: bool = False
    closed: bool = False

    def write(self, line: bytes) -> None:
        if self.full:
            raise OSError(28, "No space left on device")
        self.lines.append(line)

    def sync(self) -> None:
        if self.unsynced:
            raise OSError(5, "Input/output error")
        self.synced = len(self.lines)

    def close(self) -> None:
        self.closed = True

    def events(self, *types: str) -> list[dict[str, Any]]:
        """The lines as JSON, all or those of some types."""
        parsed = [json.loads(line) for line in self.lines]
        return [event for event in parsed if not types or event["type"] in types]


@dataclass
class RecordingReporter:
    """Writes down what it is told, in order."""

    calls: list[str] = field(default_factory=list)
    counters: list[tuple[Progress, Usage]] = field(default_factory=list)
    presented: list[tuple[RunArtifact, ...] | None] = field(default_factory=list)
    """Beside the counters."""
    results: list[RunResult] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def started(self) -> None:
        self.calls.append("started")

    def progress(
        self, progress: Progress, usage: Usage, artifacts: tuple[RunArtifact, ...] | None = None
    ) -> None:
        self.counters.append((progress, usage))
        self.presented.append(artifacts)
        self._changed.set()

    async def until(self, reached: Callable[[Progress], bool]) -> None:
        """Return once the counters are there."""
        while not (self.counters and reached(self.counters[-1][0])):
            self._changed.clear()
            await self._changed.wait()

    async def first_tool_call(self, progress: Progress, usage: Usage) -> None:
        self.calls.append(f"first_tool_call {progress.tool_calls}")

    async def sandbox_acquired(self, sandbox_id: str) -> None:
        self.calls.append(f"sandbox_acquired {sandbox_id}")

    async def ended(self, result: RunResult) -> None:
        self.calls.append("ended")
        self.results.append(result)


@dataclass
class AnsweringPeople(Questions):
    """Give the answers of a list, one to a question, and none when it is used up; `waits` has them think for ever."""

    answers: list[str] = field(default_factory=list)
    waits: bool = False
    asked: list[Question] = field(default_factory=list)
    waiting: asyncio.Event = field(default_factory=asyncio.Event)

    @override
    async def ask(self, question: Question) -> str | None:
        self.asked.append(question)
        if self.answers:
            return self.answers.pop(0)
        if self.waits:
            self.waiting.set()
            await asyncio.get_running_loop().create_future()
        return None


class RunnerWorld:
    """All ports of one run. Use as `async with`: the journal's thread ends with it."""

    def __init__(self, *, secrets: Iterable[str] = ()) -> None:
        self.sink = MemorySink()
        self.reporter = RecordingReporter()
        self.provider = FakeProvider()
        self.people = AnsweringPeople()
        self.cancellation = Cancellation()
        self.slept: list[float] = []
        """Waits that somebody asked for; none of them is waited out."""
        self._ticks = count()
        self._ids = count(1)
        self.journal = Journal(
            [self.sink], run="run-uid-1", thread="thread-1", epoch=1, clock=self.clock, secrets=tuple(secrets)
        )

    def clock(self) -> datetime:
        """A second later at each call."""
        return datetime(2026, 5, 8, 12, tzinfo=UTC) + timedelta(seconds=next(self._ticks))

    def monotonic(self) -> float:
        """Moves on by what was slept."""
        return 1000.0 + sum(self.slept)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)

    def ports(self) -> Ports:
        return Ports(
            reporter=self.reporter,
            sandboxes=self.provider,
            journal=self.journal,
            cancellation=self.cancellation,
            clock=self.clock,
            new_id=lambda: f"id-{next(self._ids)}",
            timing=Timing(self.monotonic, self.sleep, lambda low, _: low),
            questions=self.people,
        )

    async def run(self, what: RunDocument, **kwargs: Any) -> RunResult:
        return await run_document(what, self.ports(), **kwargs)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.journal.close()
