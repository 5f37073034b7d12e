"""What the tool `task` needs from the run: somebody who carries out a piece of work."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from langchain_core.messages import ToolMessage

from skerry_runner.subagents.kinds import SubagentKind

if TYPE_CHECKING:
    from skerry_runner.context import RunContext

__all__ = ["Order", "Subagents", "execution_id"]


def execution_id(run: str, message_id: str, index: int) -> str:
    """Names one execution: the call at this index of the lead's message. Made anew, the call is the same execution."""
    joined = f"{len(run)}:{run}{len(message_id)}:{message_id}{index}"
    return "sub-" + hashlib.sha256(joined.encode("utf-8", "replace")).hexdigest()[:12]


@dataclass(frozen=True)
class Order:
    """One piece of work. `call_id` is the tool call's, `description` a few words for people."""

    execution: str
    call_id: str
    kind: SubagentKind
    prompt: str
    description: str = ""


class Subagents(Protocol):
    async def work(self, order: Order, context: RunContext) -> ToolMessage:
        """Have the work done and return what the lead is told.

        Args:
            order: what is to be done.
            context: the lead's.

        Raises:
            RunEnded: something that ends the run as a whole, such as a script that does not fit.
            asyncio.CancelledError: the run was cancelled; the work is over by then.
        """
        ...
