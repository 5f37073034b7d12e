"""What the final state of the graph means for a run: outcome, stop reason, answer. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from langchain_core.messages import AIMessage

from skerry_api.phases import OutcomeClass, StopReason
from skerry_api.report import Outcome
from skerry_runner.budget import BUDGET_CAPS
from skerry_runner.finish import cut_by_length
from skerry_runner.messages import MODEL_ERROR, STOP, said_by_run, text_of
from skerry_runner.outcome import app_error, budget_exceeded, model_failed, succeeded

__all__ = ["End", "end_of"]


class End(NamedTuple):
    """How a run ended; `answer_id` is the id of the message whose text the answer is."""

    outcome: Outcome
    stop_reason: StopReason | None = None
    answer: str | None = None
    answer_id: str | None = None


def end_of(state: Mapping[str, Any], run: str) -> End:
    """What the state means for the run.

    A stop in state comes first, then what a guard wrote on the last message, then what the message itself is.
    """
    said = said_by_run(state.get("messages", ()), run)
    last = said[-1] if said else None
    if (cap := _cap(state, last, run)) is not None:
        if cap == OutcomeClass.BUDGET_EXCEEDED:
            return End(budget_exceeded())
        spoken = [
            message
            for message in said
            if text_of(message).strip() and message.additional_kwargs.get(STOP) not in BUDGET_CAPS
        ]
        if not spoken:
            return End(succeeded(), StopReason(cap))
        return End(succeeded(), StopReason(cap), text_of(spoken[-1]), spoken[-1].id)
    if last is not None and (failed := _model_failure(last)) is not None:
        return End(failed)
    if last is None or not text_of(last).strip():
        cut = " (a limit of tokens cut it)" if last is not None and cut_by_length(last) else ""
        message = f"the model's final answer was empty, also when asked again{cut}"
        return End(app_error("EmptyAnswer", message))
    return End(succeeded(), _reason_of(last), text_of(last), last.id)


def _cap(state: Mapping[str, Any], last: AIMessage | None, run: str) -> str | None:
    """The limit of the run that ended it, as RunGate or a call that could not be made have written it."""
    stop = state.get("stop")
    if stop is not None and stop["run"] == run:
        return str(stop["reason"])
    noted = last.additional_kwargs.get(STOP) if last is not None else None
    return str(noted) if noted in BUDGET_CAPS else None


def _model_failure(message: AIMessage) -> Outcome | None:
    noted = message.additional_kwargs.get(MODEL_ERROR)
    if not isinstance(noted, Mapping):
        return None
    attempts = int(noted["attempts"])
    after = f" (attempts: {attempts})" if attempts > 1 else ""
    return model_failed(
        str(noted["reason"]), f"{noted['error']}: {noted['message']}{after}", str(noted["endpoint"])
    )


def _reason_of(message: AIMessage) -> StopReason:
    noted = message.additional_kwargs.get(STOP)
    if noted in set(StopReason):
        return StopReason(noted)
    return StopReason.LENGTH_CAPPED if cut_by_length(message) else StopReason.END_TURN
