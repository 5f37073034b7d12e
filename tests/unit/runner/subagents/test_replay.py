"""What the results of subagents tell a later epoch."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from skerry_runner.messages import RUN_ID
from skerry_runner.subagents.replay import uncounted
from skerry_runner.usage import Counts, Tally


def start(run: str) -> HumanMessage:
    return HumanMessage("Go.", additional_kwargs={RUN_ID: run})


def result(execution: str, total: int) -> ToolMessage:
    usage = {"input": total - 1, "output": 1, "total": total}
    kwargs = {"subagent_id": execution, "subagent_turns": 2, "subagent_usage": usage}
    return ToolMessage("x", tool_call_id="t", additional_kwargs=kwargs)


def tally(counted: int, *known: str) -> Tally:
    made = Tally(lambda _: None)
    made.seed(Counts(subagents=counted))
    for execution in known:
        made.child(execution)
    return made


OLD: list[AnyMessage] = [start("old"), result("z", 1000), AIMessage("done")]
NEW: list[AnyMessage] = [
    start("new"), result("a", 10), AIMessage("on"), result("b", 20), result("c", 30), ToolMessage("y", tool_call_id="u"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("counted", "known", "missing"),
    [
        (60, (), []),
        (99, (), []),
        (30, (), [30]),
        (10, (), [30, 20]),
        (0, (), [30, 20, 10]),
        # What this process counted itself is there, whichever of the siblings it is.
        (40, ("c",), [20]),
        (30, ("b",), [30]),
        (60, ("b", "c"), []),
    ],
)
def test_the_newest_results_are_those_that_no_counter_knows(
    counted: int, known: tuple[str, ...], missing: list[int]
) -> None:
    found = uncounted([*OLD, *NEW], "new", tally(counted, *known))
    assert found == [Counts(model_calls=2, input=total - 1, output=1, total=total) for total in missing]


def test_without_subagents_nothing_is_missing() -> None:
    assert uncounted([start("new"), AIMessage("done")], "new", tally(0)) == []
    assert uncounted([], "new", tally(0)) == []
