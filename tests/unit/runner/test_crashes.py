"""A run that ends at any point of any row leaves nothing behind: the next one on the thread, and its own next epoch, go well.

Generic over the table: a new row is tried as soon as it is in it.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver

from skerry_api.document import RunDocument
from skerry_api.phases import OutcomeClass
from skerry_runner.agent import Agent, record_fault
from skerry_runner.checkpoint import memory_saver
from skerry_runner.compose import compose
from skerry_runner.compose.rows import Hook
from skerry_runner.context import RunContext
from skerry_runner.invocation import Invocation
from skerry_runner.llm.calls import Breakers
from skerry_runner.models.build import BuiltModel
from skerry_runner.models.scripted.cursor import ScriptCursor
from skerry_runner.pipeline import ROWS, assemble
from skerry_runner.ports import RunResult
from skerry_runner.rowspec import AnyRow
from skerry_runner.skills import Skill
from skerry_runner.state import RunnerState
from skerry_runner.tools.catalogue import tools_for
from skerry_runner.toolservers import no_servers
from skerry_testing.crashingrows import End, Point, Trigger, crashing, points_of
from skerry_testing.customrows import Polite
from skerry_testing.runnerworld import RunnerWorld, document

SCRIPT = """
steps:
- toolCalls: [{name: ls, args: {path: /mnt/user-data}}, {name: write_todos, args: {todos: [{content: look, status: pending}]}}]
- toolCalls: [{name: ls, args: {path: /mnt/user-data}}, {name: write_todos, args: {todos: [{content: look, status: pending}]}}]
- toolCalls:
  - {name: ls, args: {path: /mnt/user-data/workspace}}
  - {name: read_file, args: {path: /mnt/user-data/uploads/a}}
  - {name: view_image, args: {image_path: /mnt/user-data/uploads/p.png}}
- say: not yet
- toolCalls: [{name: write_todos, args: {todos: [{content: look, status: completed}]}}]
- say: done
"""
"""Leaves something in every row's own memory for a while: an image, a loop's warning, a reminder of open todos."""
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
CRASHED, NEXT = "uid-of-crashed", "uid-of-next"
SKILLS = (Skill("pdf", "use qpdf"),)


def full(run: str, epoch: int = 1) -> RunDocument:
    """A run with every row of the table."""
    return document(
        SCRIPT, run=run, epoch=epoch, vision=True, prompt="/pdf go",
        pipeline={
            "summarization": {"enabled": True, "trigger": [{"messages": 60}]},
            "todoList": {"enabled": True}, "loopDetection": {"warn": 2}, "memory": {"enabled": True},
            "custom": [{"path": "skerry_testing.customrows:Polite", "settings": {"word": "please"}}],
        },
        guardrail={"deny": ["none"]}, subagents={"enabled": True},
        mcp_servers=[{"name": "wiki", "transport": "StreamableHTTP", "url": "http://192.0.2.1/mcp"}],
    )  # fmt: skip


ALL = assemble(full(NEXT))
ONCE = {Hook.BEFORE_AGENT, Hook.AFTER_AGENT}
POINTS = [point for row in ALL for point in points_of(row)]


class Thread:
    """One thread, one process: rows, checkpoints and breakers are the same for all its runs."""

    def __init__(self, world: RunnerWorld) -> None:
        self.world, self.trigger = world, Trigger()
        self.rows = [crashing(row, self.trigger) for row in assemble(full(NEXT))]
        self.saver: BaseCheckpointSaver[Any] = memory_saver()
        self.breakers = Breakers()
        world.provider.sandbox.files |= {
            "/mnt/user-data/uploads/a": b"a",
            "/mnt/user-data/uploads/p.png": PNG,
        }

    def _build(
        self, what: RunDocument, built: BuiltModel, saver: BaseCheckpointSaver[Any], tools: Sequence[BaseTool]
    ) -> Agent:
        rows = compose([*self.rows, ScriptCursor()], state_schema=RunnerState, on_fault=record_fault)
        return create_agent(
            built.model, [*tools_for(what.tools), *tools], system_prompt=what.system_prompt, middleware=[rows],
            state_schema=RunnerState, context_schema=RunContext, checkpointer=saver,
        )  # fmt: skip

    async def play(self, what: RunDocument) -> RunResult | None:
        """The run's result; None if it was cancelled."""
        self.trigger.passed.clear()
        invocation = Invocation(
            what, self.world.ports(), api_key=None, checkpointer=self.saver, build=self._build,
            breakers=self.breakers, skills=SKILLS, servers=no_servers,
        )  # fmt: skip

        async def held() -> RunResult:
            async with invocation.session.hold():
                return await invocation.run()

        self.trigger.task = asyncio.create_task(held())
        async with asyncio.timeout(120):
            await asyncio.wait({self.trigger.task})
        provider = self.world.provider
        assert (provider.current, provider.acquired) == (None, provider.released)
        return None if self.trigger.task.cancelled() else self.trigger.task.result()

    async def state(self) -> Mapping[str, Any]:
        (kept,) = [item async for item in self.saver.alist(None, limit=1)]
        return kept.checkpoint["channel_values"]


def texts_in(value: Any, seen: set[int]) -> Iterator[str]:
    """Every text in a row's own memory, as deep as containers and our objects go."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, each in list(value.items()):
            yield from texts_in(key, seen)
            yield from texts_in(each, seen)
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from texts_in(each, seen)
    elif type(value).__module__.startswith("skerry_runner") and hasattr(value, "__dict__"):
        yield from texts_in(vars(value), seen)


def leftovers(rows: Sequence[AnyRow]) -> list[str]:
    """Rows that still know of a run."""
    return [
        row.name
        for row in rows
        if any(run in text for text in texts_in(vars(row), set()) for run in (CRASHED, NEXT))
    ]


def unpaired(messages: Sequence[Any]) -> set[str | None]:
    """Calls without result, results without call, ids that occur twice."""
    calls = [call["id"] for m in messages if isinstance(m, AIMessage) for call in m.tool_calls]
    results = [m.tool_call_id for m in messages if isinstance(m, ToolMessage)]
    ids = [m.id for m in messages]
    return set(calls) ^ set(results) | {each for each in ids if ids.count(each) > 1}


def test_every_row_of_the_table_is_tried() -> None:
    tried = {point.row for point in POINTS}
    assert {spec.name for spec in ROWS} <= tried


async def test_a_run_that_nothing_befalls_passes_the_points() -> None:
    async with RunnerWorld() as world:
        thread = Thread(world)
        result = await thread.play(full(NEXT))
        assert result is not None
        assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "done"), result.outcome
        assert leftovers(thread.rows) == []
        assert set(POINTS) - set(thread.trigger.passed) == set()


@pytest.mark.parametrize("end", list(End))
@pytest.mark.parametrize(
    "point", POINTS, ids=lambda p: f"{p.row}-{p.hook}-{'after' if p.after else 'before'}"
)
async def test_whatever_ends_a_run_the_next_one_goes_well(point: Point, end: End) -> None:
    async with RunnerWorld() as world:
        thread = Thread(world)
        for nth in (1,) if point.hook in ONCE else (2, 4):
            thread.trigger.point, thread.trigger.end, thread.trigger.nth = point, end, nth
            ended = await thread.play(full(f"{CRASHED}-{nth}"))
            happened = thread.trigger.passed.count(point) >= nth
            thread.trigger.point = None
            assert (ended is None) is (happened and end is End.CANCEL)
            if ended is not None and not (
                happened and end is End.RAISE and point.hook is not Hook.WRAP_TOOL_CALL
            ):
                # Not reached so often, or a fault that the agent reads as a result.
                assert ended.outcome.class_ is OutcomeClass.SUCCEEDED, ended.outcome
            following = await thread.play(full(f"{NEXT}-{nth}"))
            assert following is not None
            assert (following.outcome.class_, following.answer) == (OutcomeClass.SUCCEEDED, "done"), (
                following.outcome
            )
            assert leftovers(thread.rows) == []


@pytest.mark.parametrize("end", list(End))
@pytest.mark.parametrize(
    "point", POINTS, ids=lambda p: f"{p.row}-{p.hook}-{'after' if p.after else 'before'}"
)
async def test_whatever_ends_an_epoch_the_run_goes_on(point: Point, end: End) -> None:
    async with RunnerWorld() as world:
        thread = Thread(world)
        thread.trigger.point, thread.trigger.end = point, end
        await thread.play(full(CRASHED))
        thread.trigger.point = None
        again = await thread.play(full(CRASHED, epoch=2))
        assert again is not None
        assert (again.outcome.class_, again.answer) == (OutcomeClass.SUCCEEDED, "done"), again.outcome
        assert leftovers(thread.rows) == []
        assert unpaired((await thread.state())["messages"]) == set()


async def test_what_is_left_over_would_be_seen() -> None:
    row = Polite("x")
    row.word = {"pending": [(f"{CRASHED}-1", 5)]}  # type: ignore[assignment]  # as a leak would look
    assert leftovers([row, Polite("y")]) == ["Polite"]
    call = AIMessage("", id="m", tool_calls=[{"name": "ls", "args": {}, "id": "c"}])
    assert unpaired([call, call]) == {"m", "c"}
