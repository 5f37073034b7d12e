"""What the final state of the graph means for a run: outcome, stop reason, answer. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage

from skerry_api.phases import OutcomeClass, StopReason
from skerry_api.report import Outcome
from skerry_runner.budget import BUDGET_CAPS
from skerry_runner.finish import cut_by_length
from skerry_runner.messages import MODEL_ERROR, STOP, said_by_run, text_of
from skerry_runner.outcome import app_error, budget_exceeded, model_failed, succeeded

__all__ = ["end_of"]

Ending = tuple[Outcome, StopReason | None, str | None]


def end_of(state: Mapping[str, Any], run: str) -> Ending:
    """Outcome, stop reason and answer of a run.

    A stop in state comes first, then what a guard wrote on the last message, then what the message itself is.
    """
    said = said_by_run(state.get("messages", ()), run)
    last = said[-1] if said else None
    if (cap := _cap(state, last, run)) is not None:
        if cap == OutcomeClass.BUDGET_EXCEEDED:
            return budget_exceeded(), None, None
        texts = [
            text
            for message in said
            if (text := text_of(message)).strip() and message.additional_kwargs.get(STOP) not in BUDGET_CAPS
        ]
        return succeeded(), StopReason(cap), texts[-1] if texts else None
    if last is not None and (failed := _model_failure(last)) is not None:
        return failed, None, None
    if last is None or not text_of(last).strip():
        cut = " (a limit of tokens cut it)" if last is not None and cut_by_length(last) else ""
        message = f"the model's final answer was empty, also when asked again{cut}"
        return app_error("EmptyAnswer", message), None, None
    return succeeded(), _reason_of(last), text_of(last)


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
