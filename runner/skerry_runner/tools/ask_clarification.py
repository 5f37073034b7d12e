"""ask_clarification: the agent asks a person. The row Clarification pauses the run; here is the answer when nobody is there."""

from __future__ import annotations

from typing import Annotated, Literal

from langchain_core.tools import tool
from pydantic import Field

from skerry_runner.questions import ASK

__all__ = ["DECIDE", "ask_clarification"]

DECIDE = (
    "Nobody is there to answer: this run is not interactive. Decide by yourself: take the most reasonable reading "
    "and the safer way, go on, and say in your final answer what you assumed."
)


@tool(ASK)
async def ask_clarification(
    question: Annotated[str, Field(description="One question, clear without the rest of the conversation.")],
    clarification_type: Annotated[  # noqa: ARG001 - the row reads it from the call
        Literal[
            "missing_info", "ambiguous_requirement", "approach_choice", "risk_confirmation", "suggestion"
        ],
        Field(description="Why you ask."),
    ] = "missing_info",
    context: Annotated[  # noqa: ARG001 - likewise
        str | None, Field(description="What the person should know to answer it.")
    ] = None,
    options: Annotated[  # noqa: ARG001 - likewise
        list[str] | None, Field(description="Answers that you propose; the person may say something else.")
    ] = None,
) -> str:
    """Ask the person you work for, and wait for the answer.

    Use it before you act when something is missing, may be read in several ways, can't be undone, or is theirs to
    choose. Ask one question at a time and as the last call of a message: calls after it are not made.
    """
    assert question  # noqa: S101 - the row has seen to it
    return DECIDE
