"""Every journal line's shape: the one place that says which types exist (docs/reference/journal.md is checked by it).

A line is the event plus an envelope: `seq` (from 1, no gaps), `time` (RFC 3339, UTC), `run` (UID), `thread`, `agent`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from skerry_api.phases import QuestionType, StopReason
from skerry_api.report import Outcome, Progress, Tokens, Usage

__all__ = [
    "EVENT_TYPES", "TEXT_MAX", "ArtifactPresented", "AuditCommand", "Call", "Event", "FileStaged", "GuardrailDecision", "LlmCircuit", "LlmRetry", "LoopStop", "LoopWarning", "McpServerState", "MemoryEnqueued", "MemoryUpdated", "MessageInfo", "ModelError", "ModelRequest", "ModelResponse",
    "PipelineFault", "QuestionAsked", "RunEnd", "RunStart", "SafetyTermination", "SandboxAcquired", "SandboxReleased", "SandboxReplaced", "ScriptUnused", "SubagentCapped", "SubagentEnd", "SubagentStart", "SubagentStep", "Summary", "TitleMade",
    "TodoEntry", "TodoWritten", "ToolCall", "ToolResult", "UnusedStep", "clip",
]  # fmt: skip

TEXT_MAX = 65_536
"""Longest text in an event, in characters; `chars` beside it gives the true length."""


def clip(text: str) -> str:
    """A text as an event may carry it: not too long, and without lone surrogates, which JSON can't hold."""
    return text[:TEXT_MAX].encode("utf-8", "replace").decode()


class _Part(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


class Event(_Part):
    """Base of all events; `TYPE` is the line's `type`."""

    TYPE: ClassVar[str]

    def body(self) -> dict[str, Any]:
        """The line without its envelope."""
        return {"type": self.TYPE, **self.model_dump(by_alias=True, mode="json", exclude_none=True)}


class RunStart(Event):
    """The epoch begins."""

    TYPE: ClassVar[str] = "run.start"
    namespace: str
    name: str
    epoch: int
    profile: str
    model: str
    tools: tuple[str, ...]
    sandbox_id: str
    prompt_chars: int


class MessageInfo(_Part):
    """A message of a request, without its text."""

    id: str | None
    role: str
    name: str | None = None
    chars: int


class ModelRequest(Event):
    """What is sent to the model; once per attempt. `systemHash` is SHA-256 of the system prompt, in hex."""

    TYPE: ClassVar[str] = "model.request"
    request: str
    """Ties request, response and error together."""
    purpose: str | None = None
    """Of an internal call: title, summary or memory."""
    messages: tuple[MessageInfo, ...]
    system_hash: str
    tools: tuple[str, ...]


class Call(_Part):
    id: str | None
    name: str | None


class ModelResponse(Event):
    """What came back."""

    TYPE: ClassVar[str] = "model.response"
    request: str
    id: str | None
    text: str
    chars: int
    tool_calls: tuple[Call, ...] = ()
    invalid_tool_calls: tuple[Call, ...] = ()
    finish_reason: str | None = None
    usage: Tokens


class ModelError(Event):
    """The call failed."""

    TYPE: ClassVar[str] = "model.error"
    request: str
    error: str
    message: str


class LlmRetry(Event):
    """A model call failed and is made again after a wait. `attempt` is the one that failed, from 1."""

    TYPE: ClassVar[str] = "llm.retry"
    endpoint: str
    attempt: int
    max_attempts: int
    wait_ms: int
    kind: str
    reason: str
    error: str
    message: str
    status: int | None = None


class LlmCircuit(Event):
    """An endpoint's circuit breaker changed its state: closed, open or half-open."""

    TYPE: ClassVar[str] = "llm.circuit"
    endpoint: str
    state: str
    failures: int
    """Calls in a row that failed."""
    open_seconds: float | None = None
    """How long it stays open; only with state open."""


class McpServerState(Event):
    """An MCP server was connected to (`state` connected, with the names of its tools here), or could not be: failed."""

    TYPE: ClassVar[str] = "mcp.server"
    server: str
    state: str
    tools: tuple[str, ...] = ()
    message: str | None = None


class SafetyTermination(Event):
    """A provider stopped an answer for safety. Names of calls that were suppressed, never their arguments."""

    TYPE: ClassVar[str] = "safety_termination"
    id: str | None
    adapter: str
    field: str
    value: str
    action: str
    """suppress_tool_calls, fill_blank or mark."""
    suppressed: tuple[str, ...] = ()


class _Loop(_Part):
    """`layer` action: the same calls of `tools` came `count` times; tool: one tool was called `count` times in the run."""

    layer: str
    tools: tuple[str, ...]
    count: int
    limit: int


class LoopWarning(_Loop, Event):
    """The agent repeats itself and is told so with its next request."""

    TYPE: ClassVar[str] = "loop.warning"


class LoopStop(_Loop, Event):
    """The agent repeats itself, and its run is ended: the calls are not made."""

    TYPE: ClassVar[str] = "loop.stop"


class TitleMade(Event):
    """The thread has a title: `source` model, or local with the reason in `error` if a model was asked in vain."""

    TYPE: ClassVar[str] = "title"
    title: str
    source: str
    error: str | None = None


class GuardrailDecision(Event):
    """A call was denied (`decision` deny), or a provider gave no decision (`error`) and failClosed let it pass (allow)."""

    TYPE: ClassVar[str] = "guardrail"
    id: str
    tool: str
    decision: str
    provider: str
    """lists, rules, http or path."""
    code: str | None = None
    reason: str | None = None
    error: str | None = None


class AuditCommand(Event):
    """A bash command was judged: `verdict` pass, warn or block, `rules` the ids of those that it breaks."""

    TYPE: ClassVar[str] = "audit.command"
    id: str
    command: str
    chars: int
    verdict: str
    rules: tuple[str, ...] = ()


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


class UnusedStep(_Part):
    """`step` counts from 0, `line` from 1."""

    step: int
    line: int
    agent: str | None = None
    purpose: str | None = None


class Summary(Event):
    """A long history was to be summarised: `status` replaced or failed; counts are of messages.

    `skills` are the paths of skill files that stay word for word, `chars` is the summary's length.
    """

    TYPE: ClassVar[str] = "summary"
    status: str
    error: str | None = None
    removed: int = 0
    kept: int = 0
    chars: int = 0
    skills: tuple[str, ...] = ()


class TodoEntry(_Part):
    content: str
    status: str


class TodoWritten(Event):
    """The agent wrote its list of todos anew."""

    TYPE: ClassVar[str] = "todo"
    todos: tuple[TodoEntry, ...]


class MemoryEnqueued(Event):
    """What was said is to become facts: number and length of its exchanges, no text."""

    TYPE: ClassVar[str] = "memory.enqueued"
    exchanges: int
    chars: int
    correction: bool
    """The user corrected the agent."""
    reinforcement: bool
    flush: str
    """AtEnd or Debounced."""


class MemoryUpdated(Event):
    """The model was asked for facts of a thread: `status` updated or failed, with the number of facts that changed."""

    TYPE: ClassVar[str] = "memory.updated"
    status: str
    of_thread: str
    added: int = 0
    removed: int = 0
    error: str | None = None
    dropped: bool = False
    """Nobody will try again; without it a failed update waits."""


class SubagentStart(Event):
    """A piece of work is handed to a subagent, who acts as the line's `agent`; `id` names this execution, `call` is the lead's."""

    TYPE: ClassVar[str] = "subagent.start"
    id: str
    call: str
    description: str = ""
    prompt: str
    chars: int
    """Of the prompt."""
    tools: tuple[str, ...]
    max_turns: int
    timeout_seconds: int


class SubagentStep(Event):
    """A subagent's model has answered: `step` counts from 1, `message` is the answer's id."""

    TYPE: ClassVar[str] = "subagent.step"
    id: str
    step: int
    message: str | None
    chars: int
    tool_calls: tuple[Call, ...] = ()


class SubagentEnd(Event):
    """A subagent is done: `status` completed, failed, timed_out or cancelled. Exactly one for a start."""

    TYPE: ClassVar[str] = "subagent.end"
    id: str
    call: str
    status: str
    reason: str
    error: str | None = None
    steps: int
    chars: int
    """Of the result."""
    usage: Tokens


class SubagentCapped(Event):
    """An answer wanted to hand on more work than it may: `cut` calls are not made, `left` more are possible in this run."""

    TYPE: ClassVar[str] = "subagent.capped"
    message: str | None
    cut: int
    left: int
    stopped: bool
    """Whether the run ends with it."""


class ScriptUnused(Event):
    """Steps of the script that were never played."""

    TYPE: ClassVar[str] = "script.unused"
    steps: tuple[UnusedStep, ...]


class PipelineFault(Event):
    """A middleware misbehaved, and the run went on."""

    TYPE: ClassVar[str] = "pipeline.fault"
    row: str
    hook: str
    error: str
    message: str
    tool_call_id: str | None = None


class RunEnd(Event):
    """The epoch ends; exactly one, the last line."""

    TYPE: ClassVar[str] = "run.end"
    outcome: Outcome
    stop_reason: StopReason | None = None
    usage: Usage
    progress: Progress
    answer_chars: int = 0


EVENT_TYPES: dict[str, type[Event]] = {kind.TYPE: kind for kind in Event.__subclasses__()}
