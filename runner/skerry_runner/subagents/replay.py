"""What subagents of earlier epochs have used and played, told by the results that outlived them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from skerry_runner.messages import RUN_ID
from skerry_runner.models.scripted.playhead import LEAD, Part, Playhead
from skerry_runner.subagents.port import execution_id
from skerry_runner.subagents.result import TASK, TURNS_KEY
from skerry_runner.subagentusage import subagent_usage
from skerry_runner.usage import Counts, Tally

__all__ = ["PLAYED_KEY", "seed_played", "uncounted"]

PLAYED_KEY = "subagent_script_steps"
"""Key in the result's kwargs: how many of its steps the execution has played."""


def uncounted(messages: Sequence[AnyMessage], run: str, tally: Tally) -> list[Counts]:
    """Use by subagents of this run that no counter knows: the process that counted it ended before it could be kept.

    Args:
        messages: the thread's, oldest first.
        run: the run's UID.
        tally: the lead's.
    """
    total, elsewhere = 0, []
    for message in reversed(messages):
        if message.additional_kwargs.get(RUN_ID) == run:
            break
        if (used := subagent_usage(message)) is None:
            continue
        total += used.total
        if not tally.has_child(str(message.additional_kwargs.get("subagent_id"))):
            turns = message.additional_kwargs.get(TURNS_KEY, 0)
            elsewhere.append(
                Counts(model_calls=turns, input=used.input, output=used.output, total=used.total)
            )
    found: list[Counts] = []
    missing = total - tally.counts.subagents
    # An earlier process has counted a result whole or not at all: the newest are those that lack.
    for result in elsewhere:
        if missing <= 0:
            break
        found.append(result)
        missing -= result.total
    return found


def seed_played(playhead: Playhead, state: Mapping[str, Any], run: str) -> None:
    """Tell the playhead what earlier epochs have played: the lead, and executions whose results are among the messages."""
    playhead.seed(LEAD, (state.get("script") or {}).get(playhead.key, 0))
    messages: Sequence[AnyMessage] = state.get("messages", ())
    played = {
        message.additional_kwargs.get("subagent_id"): message.additional_kwargs[PLAYED_KEY]
        for message in messages
        if isinstance(message, ToolMessage) and PLAYED_KEY in message.additional_kwargs
    }
    for message in messages:
        for index, call in enumerate(message.tool_calls) if isinstance(message, AIMessage) else ():
            execution = execution_id(run, message.id or "", index)
            if call["name"] == TASK and execution in played:
                playhead.seed(_part(call["args"], execution), played[execution])


def _part(args: Mapping[str, Any], execution: str) -> Part:
    return Part(agent=str(args.get("subagent_type")), prompt=str(args.get("prompt")), execution=execution)
