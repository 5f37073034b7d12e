"""LLMErrorHandling: what a model call raises is tried again where that helps, else it becomes the run's last message.

It sees calls that gave no answer. Answers that can't be trusted are SafetyFinishReason's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage
from typing_extensions import override

from skerry_api.phases import ModelErrorReason, OutcomeClass
from skerry_runner.budget import BudgetSpent
from skerry_runner.context import RunContext
from skerry_runner.llm.calls import ModelCallFailed
from skerry_runner.messages import MODEL_ERROR, STOP
from skerry_runner.state import RunnerState

__all__ = ["LLMErrorHandling", "budget_message", "fallback_message"]

_ADVICE: dict[ModelErrorReason, str] = {
    ModelErrorReason.QUOTA_EXCEEDED: "its quota is used up; the account behind the key needs attention",
    ModelErrorReason.AUTHENTICATION_FAILED: "it did not accept the key",
    ModelErrorReason.CONTEXT_OVERFLOW: "the conversation has grown beyond what it can read",
    ModelErrorReason.CONTENT_FILTERED: "its provider's filter refused the request",
    ModelErrorReason.MODEL_NOT_FOUND: "its endpoint does not know it",
    ModelErrorReason.INVALID_REQUEST: "its endpoint refused the request",
    ModelErrorReason.CIRCUIT_OPEN: "its endpoint has failed too often of late and is given a rest",
}
_UNAVAILABLE = "its endpoint did not answer properly, also when asked again; try later"


def fallback_message(failed: ModelCallFailed) -> AIMessage:
    """The answer in place of the model's: a text for people, and what the run's outcome is made of."""
    failure = failed.failure
    why = _ADVICE.get(failure.reason, _UNAVAILABLE if failure.retriable else "the call failed")
    return AIMessage(
        content=f"The model could not be called: {why}.",
        additional_kwargs={
            STOP: OutcomeClass.MODEL_ERROR.value,
            MODEL_ERROR: {
                "reason": failure.reason.value,
                "endpoint": failed.endpoint,
                "error": failure.error,
                "message": failure.message,
                "attempts": failed.attempts,
            },
        },
    )


def budget_message(spent: BudgetSpent) -> AIMessage:
    """The answer in place of one that the run can't pay for. Its text is for the history, not the run's answer."""
    return AIMessage(
        content="The run's budget was used up before the model could be called again.",
        additional_kwargs={STOP: spent.cap.value},
    )


def _is_model_s(response: ModelResponse[Any]) -> bool:
    """Whether the model was asked; a row inside may have answered in its place."""
    return not any(message.additional_kwargs.get(STOP) for message in response.result)


class LLMErrorHandling(AgentMiddleware[RunnerState, RunContext, Any]):
    """The settings and the breakers are the context's: internal calls share them."""

    state_schema = RunnerState

    @override
    async def awrap_model_call(
        self,
        request: ModelRequest[RunContext],
        handler: Callable[[ModelRequest[RunContext]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        runtime = request.runtime
        try:
            return await runtime.context.calls.call(
                lambda: handler(request),
                agent=runtime.context.agent,
                asked_model=_is_model_s,
            )
        except BudgetSpent as spent:
            # RunGate looks before the turn; this is for what the turn's own summary, or a failed attempt, took since.
            return ModelResponse(result=[budget_message(spent)])
        except ModelCallFailed as failed:
            return ModelResponse(result=[fallback_message(failed)])
