"""Run all measurements on a cluster of their own and print the tables of docs/benchmarks.md."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Mapping

from benchmarks.answering import answering
from benchmarks.idle import idle
from benchmarks.lifecycle import lifecycle, writes_per_run
from benchmarks.memory import memory_queue
from benchmarks.roundtrip import roundtrip
from benchmarks.scale import scale
from skerry_testing.apiserver import ApiServer
from skerry_testing.stack import Stack, running_stack
from skerry_testing.world import World

NAMESPACE = "skerry-bench"


def _table(title: str, rows: Mapping[str, float], unit: str = "") -> None:
    print(f"\n{title}\n\n| what | {unit or 'value'} |\n|---|---|")
    for name, value in rows.items():
        print(f"| {name} | {value:.0f} |" if float(value).is_integer() else f"| {name} | {value:.2f} |")


async def _measure(stack: Stack, options: argparse.Namespace) -> None:
    async with ApiServer(stack.access, NAMESPACE) as api:
        world = World(api, stack)
        try:
            for sandbox in (False, True):
                cost = await writes_per_run(world, sandbox=sandbox)
                cost["sum"] = sum(cost.values())
                _table(
                    f"Writes of the operator for one run {'with' if sandbox else 'without'} a sandbox", cost
                )
            _table(
                "From apply to the end, medians", await lifecycle(world, options.runs), "seconds since apply"
            )
            _table("A command in the sandbox, medians", await roundtrip(world, options.times))
            _table("1,000 runs with nothing to do", await idle(world, options.count, options.quiet))
            # Last: its volumes go a while later, which is work.
            _table(
                "From an answer to the agent that has it, medians",
                await answering(world, options.runs),
                "seconds",
            )
        finally:
            await world.clean()


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--runs", type=int, default=7, help="runs to take the medians of")
    parser.add_argument("--times", type=int, default=50, help="commands to take the medians of")
    parser.add_argument("--count", type=int, default=1000, help="idle runs")
    parser.add_argument("--quiet", type=float, default=60, help="seconds of quiet")
    options = parser.parse_args()
    _table("Memory's queue", asyncio.run(memory_queue()))
    _table(f"{options.count} runs on an API server without nodes", asyncio.run(scale(options.count)))
    with running_stack("bench", NAMESPACE) as stack:
        print(f"{os.cpu_count()} cores; cluster, operator and benchmark share them")
        asyncio.run(_measure(stack, options))


if __name__ == "__main__":
    main()
