"""What the rows say of traces and streams, for the one middleware that stands for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from langgraph.types import TracePolicy

from skerry_runner.compose.rows import Row

__all__ = ["merged_policy", "transformers_of"]

Process = Callable[[Any], Any]


def transformers_of(rows: Sequence[Row]) -> tuple[Any, ...]:
    """Stream transformers of all rows, in their order; LangChain itself leaves out what comes twice."""
    return tuple(each for row in rows for each in row.transformers)


def merged_policy(rows: Sequence[Row]) -> TracePolicy | None:
    """One policy that leaves out of a span whatever any row's own does, for they share their spans."""
    policies = [row.trace_policy for row in rows if row.trace_policy is not None]
    if len(policies) < 2:
        return policies[0] if policies else None
    return TracePolicy(
        process_inputs=_chain([policy.process_inputs for policy in policies]),
        process_outputs=_chain([policy.process_outputs for policy in policies]),
    )


def _chain(steps: Sequence[Process | None]) -> Process | None:
    distinct = cast("list[Process]", [step for step in dict.fromkeys(steps) if step is not None])
    if len(distinct) < 2:
        return distinct[0] if distinct else None

    def process(value: Any) -> Any:
        for step in distinct:
            value = step(value)
        return value

    return process
