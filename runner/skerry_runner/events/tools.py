"""Events of tools and what they work with: servers, people, the sandbox, its files."""

from __future__ import annotations

from typing import ClassVar

from skerry_api.phases import QuestionType
from skerry_runner.events.base import Event

__all__ = [
    "ArtifactPresented",
    "FileStaged",
    "McpServerState",
    "QuestionAsked",
    "SandboxAcquired",
    "SandboxReleased",
    "SandboxReplaced",
    "ToolCall",
    "ToolResult",
]


class McpServerState(Event):
    """An MCP server was connected to (`state` connected, with the names of its tools here), or could not be: failed."""

    TYPE: ClassVar[str] = "mcp.server"
    server: str
    state: str
    tools: tuple[str, ...] = ()
    message: str | None = None


class ToolCall(Event):
    """A tool call is about to be made; `args` is JSON."""

    TYPE: ClassVar[str] = "tool.call"
    id: str
    name: str
    args: str


class ToolResult(Event):
    """A tool call's result, as the model will see it; status success or error."""

    TYPE: ClassVar[str] = "tool.result"
    id: str
    name: str
    status: str
    content: str
    chars: int


class QuestionAsked(Event):
    """The agent asked a person; once per question. The answer is the result of the call `call`."""

    TYPE: ClassVar[str] = "question"
    id: str
    call: str
    kind: QuestionType
    text: str
    context: str | None = None
    options: tuple[str, ...] = ()


class SandboxAcquired(Event):
    """A sandbox is held; once per acquisition."""

    TYPE: ClassVar[str] = "sandbox.acquired"
    sandbox_id: str


class SandboxReleased(Event):
    """The sandbox is let go; whether it is kept is not decided here."""

    TYPE: ClassVar[str] = "sandbox.released"
    sandbox_id: str


class SandboxReplaced(Event):
    """The sandbox behind the id is another one now: files that lived in it are gone."""

    TYPE: ClassVar[str] = "sandbox.replaced"
    sandbox_id: str
    message: str


class FileStaged(Event):
    """A file that waited for the sandbox: `status` pushed, kept (it was there already) or failed."""

    TYPE: ClassVar[str] = "file.staged"
    path: str
    size: int
    status: str
    error: str | None = None


class ArtifactPresented(Event):
    """The agent presented a file as a result; `available`: a copy of it is kept."""

    TYPE: ClassVar[str] = "artifact"
    path: str
    size: int
    media_type: str
    sha256: str | None = None
    available: bool
