"""The benchmarks still run: those without a cluster at a tiny size, the others as far as being imported."""

from __future__ import annotations

import importlib
import pkgutil

import benchmarks
import pytest
from benchmarks.memory import memory_queue
from benchmarks.turns import full as everything
from benchmarks.turns import play, steps


@pytest.mark.parametrize("name", sorted(each.name for each in pkgutil.iter_modules(benchmarks.__path__)))
def test_every_benchmark_can_be_imported(name: str) -> None:
    assert importlib.import_module(f"benchmarks.{name}").__doc__


async def test_memorys_queue_is_measured() -> None:
    measured = await memory_queue(20)
    assert measured
    assert all(value >= 0 for value in measured.values())


async def test_a_turn_with_everything_on_is_played_in_every_shape() -> None:
    for shape in ("bare", "fused", "separate"):
        await play(shape, everything(2), None)
    counted = await steps(3)
    assert (counted["bare"], counted["fused"]) == (2, 4)
