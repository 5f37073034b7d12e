"""task: hand a piece of work to a subagent."""

# Without postponed annotations: the schema names the types of the run at hand.
from collections.abc import Sequence
from typing import Annotated

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, tool
from pydantic import Field, WithJsonSchema

from skerry_runner.subagents.kinds import SubagentKind
from skerry_runner.subagents.port import Order, execution_id
from skerry_runner.subagents.result import TASK
from skerry_runner.tools.call import Runtime, context_of, place_of
from skerry_runner.tools.errors import ToolFailure

__all__ = ["describe", "task_tool"]

_ABOUT = """Hand a piece of work to a subagent, which carries it out on its own and reports back.

It knows nothing but your prompt: put the goal, what is known, the paths of files and the form of the answer into it.
You get its last message as the result. It works in your sandbox, on the same files. Calls in one message run side by
side, at most {side_by_side} of them; in one run there are at most {total}. Use it for work that can stand alone, not
for a single step that you could do yourself.

Types:
{kinds}"""


def describe(kinds: Sequence[SubagentKind], side_by_side: int, total: int) -> str:
    """What the model reads: how to use the tool, and which types there are."""
    lines = [
        f"- {kind.name}: {' '.join(kind.description.split())} (tools: {', '.join(kind.tools) or 'none'})"
        for kind in kinds
    ]
    return _ABOUT.format(side_by_side=side_by_side, total=total, kinds="\n".join(lines))


def task_tool(kinds: Sequence[SubagentKind], side_by_side: int, total: int) -> BaseTool:
    """The tool for a run's types of subagent."""
    by_name = {kind.name: kind for kind in kinds}
    # For the model alone: what else it says is answered by the tool, in words that help.
    choice = {"type": "string", "enum": list(by_name)}

    @tool(TASK, description=describe(kinds, side_by_side, total))
    async def task(
        prompt: Annotated[str, Field(min_length=1, description="The work, with all that is needed for it.")],
        subagent_type: Annotated[str, Field(description="Which type."), WithJsonSchema(choice)],
        runtime: Runtime,
        description: Annotated[str, Field(description="What it is about, in a few words.")] = "",
    ) -> ToolMessage:
        context, call_id = context_of(runtime), runtime.tool_call_id or ""
        kind = by_name.get(subagent_type)
        if kind is None:
            raise ToolFailure(
                f"there is no subagent of type {subagent_type!r}; types: {', '.join(by_name)}. Nothing was handed on"
            )
        if context.subagents is None:
            raise ToolFailure("there are no subagents here")
        message_id, index = place_of(runtime.state["messages"], call_id)
        order = Order(
            execution=execution_id(context.run, message_id, index),
            call_id=call_id,
            kind=kind,
            prompt=prompt,
            description=description,
        )
        return await context.subagents.work(order, context)

    return task
