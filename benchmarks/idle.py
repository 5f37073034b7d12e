"""What 1,000 runs that have nothing to do cost the operator."""

from __future__ import annotations

import asyncio
import secrets

from benchmarks.scrape import memory_mib, writes
from skerry_testing.world import World, say

__all__ = ["idle"]

AT_ONCE = 16


async def idle(world: World, count: int, seconds: float) -> dict[str, float]:
    """Memory with `count` finished or waiting runs (MiB), and writes of the operator in `seconds` of quiet."""
    before = await memory_mib(world.stack)
    batch = secrets.token_hex(3)
    gate = asyncio.Semaphore(AT_ONCE)

    async def make(number: int) -> str:
        async with gate:
            # They wait for a profile that never comes: alive, and nothing to be done about them.
            return await world.run(
                say("Never."), name=f"idle-{batch}-{number}", profileRef={"name": "never-there"},
                limits={"startupDeadlineSeconds": 86_400},
            )  # fmt: skip

    names = await asyncio.gather(*(make(number) for number in range(count)))
    for name in names:
        await world.wait(name, lambda status: bool(status.get("conditions")), within=300)
    begun = await writes(world.stack)
    await asyncio.sleep(seconds)
    ended = await writes(world.stack)
    return {
        "memory before, MiB": before,
        f"memory with {count} runs, MiB": await memory_mib(world.stack),
        f"writes in {seconds:.0f} s of quiet": float(sum(ended.values()) - sum(begun.values())),
    }
