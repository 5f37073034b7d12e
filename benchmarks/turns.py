"""What the pipeline costs: time, graph steps and checkpoints of a turn, beside bare create_agent and separate middlewares.

`python -m benchmarks.turns` prints the table. All of it is measured in one process, in turns, so that ratios hold on a
busy machine as well; times are minima. A turn is a model call and a tool call.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sqlite3
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import langsmith
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from skerry_api.document import RunDocument
from skerry_runner.agent import record_fault, seal_pairs
from skerry_runner.compose import compose
from skerry_runner.context import RunContext
from skerry_runner.invocation import Invocation
from skerry_runner.models.build import BuiltModel, build_model
from skerry_runner.models.scripted.cursor import ScriptCursor
from skerry_runner.pipeline import ROWS, assemble
from skerry_runner.state import RunnerState
from skerry_runner.toolservers import no_servers
from skerry_testing.runnerworld import RunnerWorld, document

__all__ = ["SHAPES", "cost", "measure"]

SHAPES = ("bare", "fused", "separate")
Saver = BaseCheckpointSaver[Any] | None


@tool
async def noop(number: int) -> str:
    """Does nothing."""
    return f"nothing {number}"


def full(turns: int) -> RunDocument:
    """A run of so many turns with every row of the table."""
    steps = "".join(f"\n- toolCalls: [{{name: noop, args: {{number: {n}}}}}]" for n in range(turns))
    what = document(
        f"steps:{steps}\n- say: done", vision=True, max_turns=6 * turns + 30,  # separate rows take many graph steps
        pipeline={
            "summarization": {"enabled": True, "trigger": [{"messages": 100_000}]},
            "todoList": {"enabled": True}, "memory": {"enabled": True},
            "loopDetection": {"toolWarn": 9999, "toolHard": 10_000},
        },
        guardrail={"deny": ["none"]}, subagents={"enabled": True},
        mcp_servers=[{"name": "wiki", "transport": "StreamableHTTP", "url": "http://192.0.2.1/mcp"}],
    )  # fmt: skip
    missing = {row.name for row in ROWS} - {row.name for row in assemble(what)}
    assert not missing, missing
    return what


class Saverless:
    """An agent without a saver, as an invocation takes one."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent

    async def aget_state(self, config: Any) -> Any:  # noqa: ARG002 - the graph's signature
        return SimpleNamespace(values={}, next=())

    async def ainvoke(self, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("durability", None)
        return await self._agent.ainvoke(*args, **kwargs)


async def _bare(what: RunDocument, saver: Saver) -> None:
    built = build_model(what.model, run=what.run.uid, api_key=None)
    agent: Any = create_agent(built.model, [noop], system_prompt=what.system_prompt, checkpointer=saver)
    config = {"configurable": {"thread_id": "t"}, "recursion_limit": 100_000}
    durability = {} if saver is None else {"durability": "sync"}
    state = await agent.ainvoke({"messages": [HumanMessage(what.prompt)]}, config, **durability)
    assert state["messages"][-1].text == "done"


async def _ours(what: RunDocument, saver: Saver, *, fused: bool) -> None:
    def build(_: RunDocument, built: BuiltModel, given: Any, tools: Sequence[BaseTool]) -> Any:
        if not fused:
            langsmith.set_runtime_overrides()  # as LangChain itself has it
        rows = [*assemble(what), ScriptCursor()]
        pipeline = compose(rows, state_schema=RunnerState, on_fault=record_fault, seal=seal_pairs)
        agent: Any = create_agent(
            built.model, [noop, *tools], system_prompt=what.system_prompt,
            middleware=[pipeline] if fused else rows,
            state_schema=RunnerState, context_schema=RunContext, checkpointer=None if saver is None else given,
        )  # fmt: skip
        return Saverless(agent) if saver is None else agent

    async with RunnerWorld() as world:
        world.sink.lines = deque(maxlen=1)  # type: ignore[assignment]  # a journal goes to a file, not into memory
        invocation = Invocation(
            what,
            world.ports(),
            api_key=None,
            checkpointer=saver or InMemorySaver(),
            build=build,
            servers=no_servers,
        )
        async with invocation.session.hold():
            result = await invocation.run()
    assert result.answer == "done", result.outcome


async def play(shape: str, what: RunDocument, saver: Saver) -> None:
    """One run."""
    if shape == "bare":
        await _bare(what, saver)
    else:
        await _ours(what, saver, fused=shape == "fused")


async def cost(shape: str, turns: int, saver: Saver = None) -> float:
    """Seconds of a run."""
    what = full(turns)
    gc.collect()
    gc.disable()
    begun = time.perf_counter()
    try:
        await play(shape, what, saver)
        return time.perf_counter() - begun
    finally:
        gc.enable()


async def per_turn(
    times: int, make: Callable[[], Saver], *, short: int = 5, long: int = 35
) -> dict[str, float]:
    """Milliseconds of a turn by shape: the slope between a short and a long run, so that set-up does not count."""
    best: dict[tuple[str, int], float] = {}
    for _ in range(times):
        for shape in SHAPES:
            for turns in (short, long):
                taken = await cost(shape, turns, make())
                best[shape, turns] = min(best.get((shape, turns), taken), taken)
    return {s: (best[s, long] - best[s, short]) / (long - short) * 1000 for s in SHAPES}


async def steps(turns: int = 10) -> dict[str, float]:
    """Checkpoints of a turn, one for each graph step."""
    counts = {}
    for shape in SHAPES:
        found = []
        for length in (turns, 2 * turns):
            saver = InMemorySaver()
            await play(shape, full(length), saver)
            found.append(sum(len(each) for thread in saver.storage.values() for each in thread.values()))
        counts[shape] = (found[1] - found[0]) / turns
    return counts


async def stored(turns: int = 20) -> dict[str, tuple[float, int]]:
    """Checkpoints and bytes (of checkpoints and writes) that SQLite holds after so many turns."""
    sizes = {}
    with tempfile.TemporaryDirectory() as folder:
        for shape in SHAPES:
            path = str(Path(folder) / f"{shape}.sqlite")
            async with AsyncSqliteSaver.from_conn_string(path) as saver:
                await play(shape, full(turns), saver)
            with sqlite3.connect(path) as db:
                count, size = db.execute(
                    "select count(*), sum(length(checkpoint) + length(metadata)) from checkpoints"
                ).fetchone()
                size += db.execute("select coalesce(sum(length(value)), 0) from writes").fetchone()[0]
            sizes[shape] = (float(count), int(size))
    return sizes


async def memory(turns: int = 300) -> dict[str, float]:
    """Peak of Python's memory for 1,000 messages, in MiB, by shape: two messages a turn."""
    peaks = {}
    for shape in ("bare", "fused"):
        found = []
        for length in (10, 10 + turns):
            what = full(length)
            gc.collect()
            tracemalloc.start()
            await play(shape, what, None)
            found.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        peaks[shape] = (found[1] - found[0]) / (2 * turns) * 1000 / 2**20
    return peaks


def started(*command: str, times: int = 3) -> float:
    """Seconds that a command takes, the least of some tries."""
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        taken.append(time.perf_counter() - begun)
    return min(taken)


async def measure(times: int) -> list[tuple[str, str, str]]:
    """Rows (what, value, budget) of the table."""
    rows = []
    for name, make in (("no saver", lambda: None), ("memory saver", InMemorySaver)):
        ms = await per_turn(times, make)
        beyond = {shape: ms[shape] - ms["bare"] for shape in SHAPES}
        budget = ("≤ 2.5", "≤ 0.4") if name == "no saver" else ("", "")
        rows += [
            (f"a turn of bare create_agent, {name}, ms", f"{ms['bare']:.2f}", ""),
            (f"beyond it, fused, {name}, ms", f"{beyond['fused']:.2f}", budget[0]),
            (
                f"beyond it, the same rows as separate middlewares, {name}, ms",
                f"{beyond['separate']:.2f}",
                "",
            ),
            (f"fused / separate, {name}", f"{beyond['fused'] / beyond['separate']:.2f}", budget[1]),
        ]
    count = await steps()
    rows.append(
        (
            "graph steps of a turn: bare, fused, separate",
            ", ".join(f"{count[s]:.0f}" for s in SHAPES),
            "bare + 2",
        )
    )
    kept = await stored()
    rows += [
        (
            "SQLite, 20 turns, checkpoints: bare, fused, separate",
            ", ".join(f"{kept[s][0]:.0f}" for s in SHAPES),
            "",
        ),
        (
            "SQLite, 20 turns, KiB: bare, fused, separate",
            ", ".join(f"{kept[s][1] / 1024:.0f}" for s in SHAPES),
            "",
        ),
    ]
    peaks = await memory()
    rows.append(
        ("peak memory of 1,000 messages, MiB: bare, fused", f"{peaks['bare']:.1f}, {peaks['fused']:.1f}", "")
    )
    python = sys.executable
    base, whole = (
        started(python, "-c", f"import {name}") for name in ("langchain.agents", "skerry_runner.invocation")
    )
    rows += [
        ("import of langchain.agents, s", f"{base:.2f}", ""),
        ("import of the runner beyond it, s", f"{whole - base:.2f}", "≤ 1"),
        ("`skerry --help`, s", f"{started(python, '-m', 'skerry_cli', '--help', times=5):.2f}", "≤ 0.3"),
        ("a bare interpreter, s", f"{started(python, '-c', 'pass', times=5):.3f}", ""),
    ]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.turns", description=__doc__)
    parser.add_argument("--times", type=int, default=5, help="tries of each run")
    options = parser.parse_args()
    print("| what | value | budget |\n|---|---|---|")
    for row in asyncio.run(measure(options.times)):
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
