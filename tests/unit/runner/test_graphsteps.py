"""What a turn costs in graph steps, each a checkpoint: counts, no times (`benchmarks/turns.py` measures those)."""

from __future__ import annotations

from benchmarks.turns import SHAPES, steps

from skerry_runner.agent import STEPS_PER_TURN


async def test_all_rows_together_cost_a_turn_two_steps() -> None:
    counts = await steps(turns=4)
    assert set(counts) == set(SHAPES)
    # Model and tools; ours are before_model and after_model. Whatever a row does beside its hooks would be seen here.
    assert (counts["bare"], counts["fused"]) == (2, 4)
    assert counts["fused"] == STEPS_PER_TURN
    # Each row for itself: what the fused pipeline saves.
    assert counts["separate"] > counts["fused"] + 4
