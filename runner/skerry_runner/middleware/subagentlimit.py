"""SubagentLimit: how many pieces of work an answer may hand on, and a run in all. Calls beyond that are not made.

The model is told in the answer itself: a call that merely vanished would pass for one that was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime
from typing_extensions import override

from skerry_api.phases import StopReason
from skerry_api.rows.subagentlimit import SubagentLimitSettings
from skerry_runner.context import RunContext
from skerry_runner.events import SubagentCapped
from skerry_runner.messages import STOP
from skerry_runner.state import RunLimits, RunnerState
from skerry_runner.subagents.kinds import SubagentKind
from skerry_runner.subagents.replay import uncounted
from skerry_runner.subagents.result import TASK
from skerry_runner.toolcalls import without_calls, without_some_calls
from skerry_runner.tools.task import task_tool

__all__ = ["CAPPED", "SubagentLimit", "limited"]

CAPPED = "subagent_limit"
"""Key in additional_kwargs of an answer that was cut: {cut, left}, counts of calls."""


def limited(message: AIMessage, handed_on: int, settings: SubagentLimitSettings) -> tuple[AIMessage, int]:
    """The answer, cut to what may be handed on, under its own id; and how many of its calls hand on work.

    Args:
        message: the newest answer.
        handed_on: how many pieces of work the run has handed on before.
        settings: the limits.
    """
    tasks = [index for index, call in enumerate(message.tool_calls) if call["name"] == TASK]
    left = max(0, settings.max_total - handed_on)
    allowed = min(settings.max_concurrent, left)
    cut = frozenset(tasks[allowed:])
    if not cut:
        return message, len(tasks)
    remaining = left - allowed
    kwargs: dict[str, Any] = {CAPPED: {"cut": len(cut), "left": remaining}}
    if len(cut) == len(message.tool_calls) and not message.invalid_tool_calls:
        text = (
            f"[SUBAGENT LIMIT REACHED] This run has handed on all of its {settings.max_total} pieces of work; "
            f"{_calls(len(cut))} not made, and the run ends here."
        )
        stopped = without_calls(message, text=text, kwargs={**kwargs, STOP: StopReason.SUBAGENT_CAPPED.value})
        return stopped, 0
    if remaining:
        why = f"at most {settings.max_concurrent} work side by side. Hand that work on after these"
    else:
        why = f"a run hands on {settings.max_total} pieces of work at most. Do what is left yourself"
    text = f"[Subagent limit] {_calls(len(cut))} not made: {why}."
    return without_some_calls(message, cut, text=text, kwargs=kwargs), allowed


def _calls(count: int) -> str:
    return f"1 call of `{TASK}` was" if count == 1 else f"{count} calls of `{TASK}` were"


class SubagentLimit(AgentMiddleware[RunnerState, RunContext, Any]):
    """Brings the tool `task` along."""

    state_schema = RunnerState

    def __init__(self, settings: SubagentLimitSettings, kinds: Sequence[SubagentKind]) -> None:
        super().__init__()
        self._settings = settings
        self.tools = [task_tool(kinds, settings.max_concurrent, settings.max_total)]

    @override
    async def aafter_model(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        context, messages = runtime.context, state["messages"]
        for used in uncounted(messages, context.run, context.tally):
            context.tally.absorb(used)
        last = messages[-1] if messages else None
        if not isinstance(last, AIMessage) or last.additional_kwargs.get(STOP):
            return None
        kept = (state.get("limits") or {}).get(context.run, RunLimits()).get("delegations", 0)
        answer, handed_on = limited(last, kept, self._settings)
        update: dict[str, Any] = {}
        if handed_on:
            update["limits"] = {context.run: RunLimits(delegations=kept + handed_on)}
        if answer is not last:
            update["messages"] = [answer]
            told = answer.additional_kwargs[CAPPED]
            context.journal.emit(
                SubagentCapped(message=answer.id, stopped=STOP in answer.additional_kwargs, **told),
                agent=context.agent,
            )
        return update or None
