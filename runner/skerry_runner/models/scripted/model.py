"""The scripted model itself: a chat model that plays steps instead of thinking."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models.base import LanguageModelInput
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ConfigDict, PrivateAttr
from typing_extensions import override

from skerry_runner.messages import role_of
from skerry_runner.models.scripted.answer import answer_of, chunks_of
from skerry_runner.models.scripted.expect import mismatches
from skerry_runner.models.scripted.faults import fault_of
from skerry_runner.models.scripted.playhead import LEAD, Part, Playhead, ScriptMismatch
from skerry_runner.models.scripted.schema import Step

__all__ = ["ScriptedModel"]


class ScriptedModel(BaseChatModel):
    """Plays the steps of one part of a script; copies share the playhead.

    Raises:
        ScriptMismatch: a step's expectation is not met, or there is no step left.
        ScriptedFault: the step is an error.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    playhead: Playhead
    part: Part = LEAD
    _schemas: dict[int, tuple[object, dict[str, Any]]] = PrivateAttr(default_factory=dict)
    """By a tool's identity, which holds as long as the tool itself is kept beside its schema."""

    @property
    @override
    def _llm_type(self) -> str:
        return "scripted"

    @property
    @override
    def _identifying_params(self) -> dict[str, Any]:
        return {"model": "scripted"}

    def for_part(self, part: Part) -> ScriptedModel:
        """The same script, played by somebody else."""
        return self.model_copy(update={"part": part})

    @override
    def bind_tools(
        self, tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool], **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        return self.bind(tools=[self._schema(tool) for tool in tools], **kwargs)

    def _schema(self, tool: dict[str, Any] | type | Callable[..., Any] | BaseTool) -> dict[str, Any]:
        """Made once: a tool is the same object every turn."""
        if id(tool) not in self._schemas:
            self._schemas[id(tool)] = (tool, convert_to_openai_tool(tool))
        return self._schemas[id(tool)][1]

    def _next(self, messages: Sequence[BaseMessage], kwargs: dict[str, Any]) -> tuple[int, Step]:
        taken = self.playhead.take(self.part)
        if taken is None:
            last = f"{role_of(messages[-1])} message" if messages else "nothing"
            raise ScriptMismatch(
                f"{self.playhead.parsed.source}: no step is left, but the model is called again (after a {last})"
            )
        index, step = taken
        tools = [str(tool.get("function", {}).get("name")) for tool in kwargs.get("tools") or ()]
        if wrong := mismatches(step.expect, messages, tools):
            raise ScriptMismatch(f"{self.playhead.where(index)}: expect: {'; '.join(wrong)}")
        return index, step

    def _answer(self, index: int, step: Step, messages: Sequence[BaseMessage]) -> AIMessage:
        if step.error is not None:
            raise fault_of(step.error)
        # Executions of a subagent play the same steps, side by side even.
        who = f"{self.part.execution}_" if self.part.execution else ""
        return answer_of(step, messages, call_prefix=f"call_{self.playhead.run[:8]}_{who}{index}")

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        index, step = self._next(messages, kwargs)
        time.sleep(step.delay_seconds)
        return ChatResult(generations=[ChatGeneration(message=self._answer(index, step, messages))])

    @override
    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        index, step = self._next(messages, kwargs)
        await asyncio.sleep(step.delay_seconds)
        return ChatResult(generations=[ChatGeneration(message=self._answer(index, step, messages))])

    @override
    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        index, step = self._next(messages, kwargs)
        time.sleep(step.delay_seconds)
        for chunk in chunks_of(self._answer(index, step, messages)):
            piece = ChatGenerationChunk(message=chunk)
            if run_manager:
                run_manager.on_llm_new_token(str(chunk.text), chunk=piece)
            yield piece

    @override
    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        index, step = self._next(messages, kwargs)
        await asyncio.sleep(step.delay_seconds)
        for chunk in chunks_of(self._answer(index, step, messages)):
            piece = ChatGenerationChunk(message=chunk)
            if run_manager:
                await run_manager.on_llm_new_token(str(chunk.text), chunk=piece)
            yield piece
