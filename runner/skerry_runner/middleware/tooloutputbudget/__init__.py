"""ToolOutputBudget: a long result goes to a file, its message keeps a synopsis, the two ends and the path.

It holds down what a message carries, never what a file holds; and it never acquires a sandbox. A path that the agent
could not read is never named: what can't be written is cut in place.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any, cast

from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse, ToolCallRequest
from langchain_core.messages import AnyMessage, ToolMessage
from typing_extensions import override

from skerry_api.rows.tooloutputbudget import ToolOutputBudgetSettings
from skerry_runner.context import RunContext
from skerry_runner.middleware.tooloutputbudget.cut import cut_in_place, head_of, plain_text, tail_of
from skerry_runner.middleware.tooloutputbudget.results import ToolResult, messages_in, with_messages
from skerry_runner.middleware.tooloutputbudget.synopsis import synopsis_of
from skerry_runner.paths import OUTPUTS
from skerry_runner.permessage import WellSoFar
from skerry_runner.sandbox.errors import SandboxError
from skerry_runner.state import RunnerState

__all__ = ["EXTERNALIZED", "ToolOutputBudget", "file_name", "trimmed"]

EXTERNALIZED = "skerry_externalized"
"""Key in additional_kwargs of a message whose result is in a file: {path, chars}."""
_UNWRITTEN = "the result is too long, and no file could be written for it"
_HISTORY = "the result is too long to be repeated here"
log = logging.getLogger(__name__)


def file_name(tool: str, call: str, text: str, suffix: str) -> str:
    """A name that is safe in any folder; the same call with the same result has the same one."""
    safe = re.sub(r"[^A-Za-z0-9_-]+", "_", tool)[:48].strip("_-") or "tool"
    digest = hashlib.sha256(f"{call}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{safe}-{digest}.{suffix}"


def trimmed(messages: list[AnyMessage], settings: ToolOutputBudgetSettings) -> list[AnyMessage]:
    """The history with results cut that are longer than any message may be; the same list if there are none."""
    changed: dict[int, AnyMessage] = {}
    for index, message in enumerate(messages):
        if not isinstance(message, ToolMessage) or message.name in settings.exempt_tools:
            continue
        text = plain_text(message.content)
        if text is not None and len(text) > settings.fallback_max_chars:
            changed[index] = message.model_copy(update={"content": _cut(text, settings, _HISTORY)})
    return [changed.get(index, message) for index, message in enumerate(messages)] if changed else messages


def _cut(text: str, settings: ToolOutputBudgetSettings, why: str) -> str:
    return cut_in_place(
        text,
        most=settings.fallback_max_chars,
        head=settings.fallback_head_chars,
        tail=settings.fallback_tail_chars,
        why=why,
    )


class ToolOutputBudget(AgentMiddleware[RunnerState, RunContext, Any]):
    """Outermost but for RunGate: it sees what all other rows made of a result."""

    state_schema = RunnerState

    def __init__(self, settings: ToolOutputBudgetSettings) -> None:
        super().__init__()
        self._settings = settings
        self._fits = WellSoFar(lambda messages: trimmed(messages, settings) is messages)

    @override
    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolResult]]
    ) -> ToolResult:
        result = await handler(request)
        context, tool = cast("RunContext", request.runtime.context), request.tool_call["name"]
        changed = {}
        for place, message in enumerate(messages_in(result)):
            if (smaller := await self._smaller(message, message.name or tool, context)) is not message:
                changed[place] = smaller
        return with_messages(result, changed)

    @override
    async def awrap_model_call(
        self,
        request: ModelRequest[RunContext],
        handler: Callable[[ModelRequest[RunContext]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        if not self._fits(request.messages):
            request = request.override(messages=trimmed(request.messages, self._settings))
        return await handler(request)

    async def _smaller(self, message: ToolMessage, tool: str, context: RunContext) -> ToolMessage:
        settings = self._settings
        text = None if tool in settings.exempt_tools else plain_text(message.content)
        threshold = settings.threshold(tool)
        if text is None or len(text) <= (threshold or settings.fallback_max_chars):
            return message
        if threshold and (written := await self._written(message, tool, text, context)) is not None:
            return written
        cut = _cut(text, settings, _UNWRITTEN)
        return message if cut is text else message.model_copy(update={"content": cut})

    async def _written(
        self, message: ToolMessage, tool: str, text: str, context: RunContext
    ) -> ToolMessage | None:
        """The message that points to a file with its result; None if there is no file, or no gain."""
        found = await asyncio.to_thread(synopsis_of, text, default_suffix="log" if tool == "bash" else "txt")
        name = file_name(tool, f"{context.run}\0{message.tool_call_id}", text, found.suffix)
        path = f"{OUTPUTS}/{self._settings.storage_subdir}/{name}"
        head = head_of(text, self._settings.preview_head_chars)
        tail = tail_of(text, min(self._settings.preview_tail_chars, len(text) - len(head)))
        parts = [
            (
                f"[The result of {tool} is too long for a message ({found.words}). All of it is in {path}: read the "
                "parts you need with read_file and start_line and end_line, or search it.]"
            )
        ]
        parts += [f"It begins:\n{head}"] if head else []
        parts += [f"[…]\nIt ends:\n{tail}"] if tail else []
        preview = "\n".join(parts)
        if len(preview) >= len(text):
            return None
        try:
            await context.sandbox.put_file(path, text.encode("utf-8", "backslashreplace"))
        except SandboxError as error:
            context.sandbox.note(error)
            log.warning("the result of %s stays in its message, cut: %s", tool, error)
            return None
        kwargs = {**message.additional_kwargs, EXTERNALIZED: {"path": path, "chars": len(text)}}
        return message.model_copy(update={"content": preview, "additional_kwargs": kwargs})
