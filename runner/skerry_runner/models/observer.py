"""Sees every call of a model, whoever makes it: journals request and response, counts calls and tokens."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from typing_extensions import override

from skerry_api.report import Tokens
from skerry_runner import events
from skerry_runner.messages import render_content, role_of, text_of
from skerry_runner.permessage import PerMessage
from skerry_runner.ports import JournalPort
from skerry_runner.tokens import estimated
from skerry_runner.usage import Tally

__all__ = ["AGENT_KEY", "EXECUTION_KEY", "PURPOSE_KEY", "ModelObserver"]

AGENT_KEY = "skerry_agent"
"""Key in a runnable's metadata: whose call it is."""
EXECUTION_KEY = "skerry_execution"
"""Key in a runnable's metadata: which execution of a subagent makes the call; the one that `Tally.child` was told."""
PURPOSE_KEY = "skerry_purpose"
"""Key in a runnable's metadata: what an internal call is for."""

LEAD = "lead"
CAUSES_MAX = 16


@dataclass(frozen=True)
class _Caller:
    agent: str = LEAD
    purpose: str | None = None
    execution: str | None = None
    sent: Sequence[BaseMessage] = ()


class ModelObserver(AsyncCallbackHandler):
    """One per run, shared by the lead, subagents and internal calls.

    It rides on every node and tool of the graph, so that it reaches every model; what is no model's it ignores.
    """

    run_inline = True
    """It never waits: a task for each event would only cost."""

    def __init__(self, journal: JournalPort, tally: Tally) -> None:
        self._journal = journal
        self._tally = tally
        self._calls: dict[UUID, _Caller] = {}
        self._failures: list[BaseException] = []
        self._blank = False
        self._infos = PerMessage(message_info)

    @property
    @override
    def ignore_chain(self) -> bool:
        return True

    @property
    @override
    def ignore_agent(self) -> bool:
        """Tools among them."""
        return True

    def made(self, error: BaseException) -> bool:
        """Whether a model raised this, or what caused it; or LangChain, for want of any answer in a response."""
        if self._blank and isinstance(error, IndexError):
            return True
        seen: BaseException | None = error
        for _ in range(CAUSES_MAX):
            if seen is None:
                break
            if any(seen is failure for failure in self._failures):
                return True
            seen = seen.__cause__
        return False

    @override
    async def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        told = metadata or {}
        caller = _Caller(
            told.get(AGENT_KEY, LEAD), told.get(PURPOSE_KEY), told.get(EXECUTION_KEY), messages[0]
        )
        self._calls[run_id] = caller
        self._tally.of(caller.execution).model_call()
        tools = (kwargs.get("invocation_params") or {}).get("tools") or ()
        event = request_event(
            str(run_id), messages[0], tools, infos=self._infos(messages[0]), purpose=caller.purpose
        )
        self._journal.emit(event, agent=caller.agent)

    @override
    async def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        caller = self._calls.pop(run_id, _Caller())
        answers = response.generations[0] if response.generations else []
        self._blank = not answers
        if self._blank:
            blank = events.ModelError(
                request=str(run_id), error="EmptyResponse", message="the response holds no answer"
            )
            self._journal.emit(blank, agent=caller.agent)
            return
        generation = answers[0]
        if isinstance(generation, ChatGeneration) and isinstance(generation.message, AIMessage):
            event = response_event(str(run_id), generation.message)
            tally = self._tally.of(caller.execution)
            used = event.usage if generation.message.usage_metadata else _guessed(caller, generation.message)
            tally.tokens(used, internal=caller.purpose is not None)
            self._journal.emit(event, agent=caller.agent)

    @override
    async def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        caller = self._calls.pop(run_id, _Caller())
        self._failures = [*self._failures[-7:], error]
        event = events.ModelError(
            request=str(run_id), error=type(error).__name__, message=events.clip(str(error))
        )
        self._journal.emit(event, agent=caller.agent)


def _guessed(caller: _Caller, answer: AIMessage) -> Tokens:
    """What a call may have taken whose endpoint does not tell: a limit must not sleep for want of a count."""
    sent, said = estimated(caller.sent), estimated([answer])
    return Tokens(input=sent, output=said, total=sent + said)


def message_info(message: BaseMessage) -> events.MessageInfo:
    """A message without its text."""
    return events.MessageInfo(
        id=message.id,
        role=role_of(message),
        name=message.name,
        chars=len(render_content(message.content)),
    )


def request_event(
    request: str,
    messages: Sequence[BaseMessage],
    tools: Sequence[Any],
    *,
    infos: Sequence[events.MessageInfo],
    purpose: str | None = None,
) -> events.ModelRequest:
    """A request without its texts; `infos` are those of its messages."""
    system = "\n".join(render_content(message.content) for message in messages if message.type == "system")
    return events.ModelRequest(
        request=request,
        purpose=purpose,
        messages=tuple(infos),
        system_hash=hashlib.sha256(system.encode("utf-8", "replace")).hexdigest(),
        tools=tuple(_tool_name(tool) for tool in tools),
    )


def _tool_name(tool: Any) -> str:
    if not isinstance(tool, dict):
        return str(getattr(tool, "name", "?"))
    function = tool.get("function")
    return str((function if isinstance(function, dict) else tool).get("name", tool.get("type", "?")))


def response_event(request: str, message: AIMessage) -> events.ModelResponse:
    """An answer as the journal has it."""
    text = text_of(message)
    used = message.usage_metadata
    finish = message.response_metadata.get("finish_reason") or message.response_metadata.get("stop_reason")
    return events.ModelResponse(
        request=request,
        id=message.id,
        text=events.clip(text),
        chars=len(text),
        tool_calls=tuple(
            events.Call(id=call["id"], name=events.clip(call["name"])) for call in message.tool_calls
        ),
        invalid_tool_calls=tuple(events.Call(id=c["id"], name=c["name"]) for c in message.invalid_tool_calls),
        finish_reason=None if finish is None else str(finish),
        usage=Tokens(input=used["input_tokens"], output=used["output_tokens"], total=used["total_tokens"])
        if used
        else Tokens(),
    )
