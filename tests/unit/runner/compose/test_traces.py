"""Trace policies and stream transformers of rows reach LangChain."""

from __future__ import annotations

from typing import Any

from langchain.agents.middleware.types import AgentMiddleware
from langgraph.types import TracePolicy
from typing_extensions import override

from skerry_runner.compose import compose
from skerry_runner.state import RunnerState


def without(key: str) -> Any:
    return lambda value: {name: each for name, each in value.items() if name != key}


DROP_A, DROP_B = without("a"), without("b")


def transformer(_scope: Any) -> Any:
    """A factory of stream transformers."""


class Quiet(AgentMiddleware[Any, Any, Any]):
    trace_policy = TracePolicy(process_inputs=DROP_A)

    @override
    async def abefore_model(self, state: Any, runtime: Any) -> None:
        """A hook, so that there is a span."""


class Quieter(Quiet):
    trace_policy = TracePolicy(process_inputs=DROP_B, process_outputs=DROP_A)
    transformers = (transformer,)


class Plain(AgentMiddleware[Any, Any, Any]):
    """Says nothing."""


def policy_of(*rows: AgentMiddleware[Any, Any, Any]) -> TracePolicy | None:
    return compose(rows, state_schema=RunnerState).trace_policy


def test_one_policy_stays_the_row_s_own_and_none_is_none() -> None:
    assert policy_of(Plain(), Quiet()) is Quiet.trace_policy
    assert policy_of(Plain()) is None


def test_what_any_row_leaves_out_is_left_out() -> None:
    policy = policy_of(Quiet(), Plain(), Quieter())
    assert policy is not None
    assert policy.process_inputs is not None
    assert policy.process_outputs is not None
    assert policy.process_inputs({"a": 1, "b": 2, "c": 3}) == {"c": 3}
    assert policy.process_outputs({"a": 1, "b": 2}) == {"b": 2}


def test_transformers_are_registered() -> None:
    assert compose([Quieter(), Plain()], state_schema=RunnerState).transformers == (transformer,)
