"""ViewImage: images that the agent has just looked at are shown to the model with the next request, and only then.

History gets a hidden message with references; the bytes are put in on the request, so that no checkpoint holds them.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.runtime import Runtime
from typing_extensions import override

from skerry_api.rows.viewimage import ViewImageSettings
from skerry_runner.context import RunContext
from skerry_runner.messages import HIDDEN
from skerry_runner.sandbox.errors import SandboxError
from skerry_runner.state import RunnerState, ViewedImage

__all__ = ["VIEWED", "ViewImage", "due", "reference"]

VIEWED = "skerry_viewed_images"
"""Flag in additional_kwargs of the hidden message: the references [{call, path, mime, size, sha256}]."""
CALL = "view_image"
Block = dict[str, Any]


def due(
    messages: Sequence[AnyMessage], images: Sequence[ViewedImage]
) -> tuple[AIMessage, list[ViewedImage]] | None:
    """The message whose calls looked at images, and those images: if all its calls are answered and nothing is shown yet."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.additional_kwargs.get(VIEWED):
            return None
        if isinstance(message, AIMessage):
            answered = {m.tool_call_id for m in messages[index + 1 :] if isinstance(m, ToolMessage)}
            asked = [call["id"] for call in message.tool_calls]
            if not asked or not answered.issuperset(asked):
                return None
            by_call = {image["call"]: image for image in images}
            looked = [call["id"] for call in message.tool_calls if call["name"] == CALL]
            found = [by_call[call] for call in looked if call in by_call]
            return (message, found) if found else None
    return None


def reference(message: AIMessage, images: Sequence[ViewedImage]) -> HumanMessage:
    """The hidden message that stands in history."""
    listed = "\n".join(f"- {image['path']} ({image['mime']}, {image['size']} bytes)" for image in images)
    return HumanMessage(
        f"Images you have looked at:\n{listed}",
        id=f"{message.id}__viewed",
        additional_kwargs={HIDDEN: True, VIEWED: list(images)},
    )


def _shown(messages: Sequence[AnyMessage]) -> tuple[int, HumanMessage] | None:
    """The reference that the next answer follows; after an answer it is history."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, AIMessage):
            return None
        if isinstance(message, HumanMessage) and message.additional_kwargs.get(VIEWED):
            return index, message
    return None


class ViewImage(AgentMiddleware[RunnerState, RunContext, Any]):
    """Attempts of one request see the same bytes: they are read once and forgotten when the call has returned."""

    state_schema = RunnerState

    def __init__(self, settings: ViewImageSettings) -> None:
        super().__init__()
        self._settings = settings
        self._read: dict[tuple[str, str, str], list[Block]] = {}

    @override
    async def abefore_agent(self, state: RunnerState, runtime: Runtime[RunContext]) -> None:
        """What a run of this thread that crashed has left."""
        self._forget(runtime.context, others=True)

    @override
    async def aafter_agent(self, state: RunnerState, runtime: Runtime[RunContext]) -> None:
        self._forget(runtime.context, others=False)

    def _forget(self, context: RunContext, *, others: bool) -> None:
        self._read = {
            key: blocks
            for key, blocks in self._read.items()
            if key[0] != context.thread or (key[1] == context.run) == others
        }

    @override
    async def abefore_model(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        found = due(state["messages"], state.get("viewed_images") or ())
        return None if found is None else {"messages": [reference(*found)]}

    @override
    async def awrap_model_call(
        self,
        request: ModelRequest[RunContext],
        handler: Callable[[ModelRequest[RunContext]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        shown = _shown(request.messages)
        if shown is None:
            return await handler(request)
        index, message = shown
        context = request.runtime.context
        key = (context.thread, context.run, message.id or "")
        if key not in self._read:
            self._read[key] = await self._blocks(message.additional_kwargs[VIEWED], context)
        content = [{"type": "text", "text": message.text}, *self._read[key]]
        messages = [*request.messages]
        messages[index] = message.model_copy(update={"content": content})
        try:
            response = await handler(request.override(messages=messages))
        except asyncio.CancelledError:
            self._read.pop(key, None)
            raise
        self._read.pop(key, None)
        return response

    async def _blocks(self, images: Sequence[ViewedImage], context: RunContext) -> list[Block]:
        """A note and the image for each; without the image where it can't be had or is another one now."""
        room, read = self._settings.max_request_bytes, []
        for image in reversed(images):
            got = "too many images for one request" if image["size"] > room else await _bytes(image, context)
            if isinstance(got, bytes):
                room -= len(got)
            read.append((image, got))
        blocks: list[Block] = []
        for image, got in reversed(read):
            if isinstance(got, str):
                blocks.append({"type": "text", "text": f"{image['path']} can't be shown: {got}"})
                continue
            encoded = await asyncio.to_thread(lambda data: base64.b64encode(data).decode(), got)
            blocks += [
                {"type": "text", "text": f"{image['path']}:"},
                {"type": "image", "base64": encoded, "mime_type": image["mime"]},
            ]
        return blocks


async def _bytes(image: ViewedImage, context: RunContext) -> bytes | str:
    """The image as it was when it was looked at, or why it can't be had.

    Raises:
        RunEnded: the sandbox is lost for good, or a newer runner has it.
    """
    try:
        sandbox = await context.sandbox.acquire()
        data = await sandbox.read_file(image["path"], limit=image["size"] + 1)
    except SandboxError as error:
        context.sandbox.note(error)
        return str(error)
    digest = await asyncio.to_thread(lambda: hashlib.sha256(data).hexdigest())
    return data if digest == image["sha256"] else "it has changed since"
