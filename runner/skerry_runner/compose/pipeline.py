"""The `Pipeline` that LangChain sees. Its class is made to measure: LangChain looks at classes to find hooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, cast

from langchain.agents.middleware.types import AgentMiddleware, hook_config
from langchain_core.tools import BaseTool
from langgraph.channels.base import BaseChannel
from typing_extensions import override

from skerry_runner.compose.nodes import FusedNode
from skerry_runner.compose.reducers import channels_of, merged_schema
from skerry_runner.compose.rows import NODE_HOOKS, Hook, OnFault, PipelineError, Row, RowFault, hooks_of
from skerry_runner.compose.traces import merged_policy, transformers_of
from skerry_runner.compose.wraps import Seal, nest_model_wraps, nest_tool_wraps

__all__ = ["Pipeline", "compose"]


class Pipeline(AgentMiddleware[Any, Any, Any]):
    """All rows as one middleware; made by `compose`."""

    rows: ClassVar[tuple[Row, ...]]
    channels: ClassVar[dict[str, BaseChannel[Any, Any, Any]]]

    @property
    @override
    def name(self) -> str:
        return "Pipeline"


def _ignore(_context: Any, _fault: RowFault) -> None:
    """Nobody listens."""


def _node_method(node: FusedNode) -> Callable[..., Any]:
    async def method(self: Pipeline, state: Any, runtime: Any) -> dict[str, Any] | None:
        return await node(self.channels, state, runtime)

    return (
        cast("Callable[..., Any]", hook_config(can_jump_to=node.can_jump_to)(method))
        if node.can_jump_to
        else method
    )


def _wrap_method(wrap: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    async def method(_self: Pipeline, request: Any, handler: Any) -> Any:
        return await wrap(request, handler)

    return method


def compose(
    rows: Sequence[Row], *, state_schema: type, on_fault: OnFault = _ignore, seal: Seal | None = None
) -> Pipeline:
    """Make one middleware of the rows; `state_schema` is the agent's own and wins over the rows' schemas.

    `seal` sees each request of the model after all rows.

    Raises:
        PipelineError: two rows share a name, or a row lacks the asynchronous form of a wrap hook.
    """
    twice = [name for name, count in Counter(row.name for row in rows).items() if count > 1]
    if twice:
        raise PipelineError(f"two rows are named {twice[0]}")
    having: dict[Hook, list[Row]] = {hook: [] for hook in Hook}
    for row in rows:
        for hook in hooks_of(row):
            having[hook].append(row)

    methods: dict[str, Any] = {
        f"a{hook}": _node_method(FusedNode(hook, having[hook], on_fault))
        for hook in NODE_HOOKS
        if having[hook]
    }
    if having[Hook.WRAP_MODEL_CALL]:
        methods["awrap_model_call"] = _wrap_method(nest_model_wraps(having[Hook.WRAP_MODEL_CALL], seal))
    if having[Hook.WRAP_TOOL_CALL]:
        methods["awrap_tool_call"] = _wrap_method(nest_tool_wraps(having[Hook.WRAP_TOOL_CALL], on_fault))

    schema = merged_schema([*(row.state_schema for row in rows), state_schema])
    tools: list[BaseTool] = [tool for row in rows for tool in getattr(row, "tools", ())]
    made = type(
        "Pipeline",
        (Pipeline,),
        {
            **methods,
            "rows": tuple(rows),
            "channels": channels_of(schema),
            "state_schema": schema,
            "tools": tools,
            "transformers": transformers_of(rows),
            "trace_policy": merged_policy(rows),
        },
    )
    return cast("Pipeline", made())
