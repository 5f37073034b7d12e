"""What a subagent used, on its call's result."""

from __future__ import annotations

from langchain_core.messages import AIMessage, ToolMessage

from skerry_api.report import Tokens
from skerry_runner.subagentusage import SUBAGENT_USAGE, subagent_usage, usages_by_call, with_subagent_usage

RESULT = ToolMessage("found", tool_call_id="c1", id="m1", artifact=[1], additional_kwargs={"a": 1})
USED = Tokens(input=3, output=1, total=4)


def test_a_result_carries_it_and_keeps_the_rest() -> None:
    carrying = with_subagent_usage(RESULT, USED)
    assert subagent_usage(carrying) == USED
    assert (carrying.id, carrying.artifact, carrying.additional_kwargs["a"]) == ("m1", [1], 1)
    assert SUBAGENT_USAGE not in RESULT.additional_kwargs


def test_only_results_that_say_so_count() -> None:
    said = AIMessage("x", additional_kwargs={SUBAGENT_USAGE: {"input": 9}})
    odd = ToolMessage("y", tool_call_id="c2", additional_kwargs={SUBAGENT_USAGE: "many"})
    assert usages_by_call([said, odd, RESULT, with_subagent_usage(RESULT, USED)]) == {"c1": USED}
