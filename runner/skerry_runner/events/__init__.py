"""Every journal line's shape: the one place that says which types exist (docs/reference/journal.md is checked by it).

A line is the event plus an envelope: `seq` (from 1, no gaps), `time` (RFC 3339, UTC), `run` (UID), `thread`, `agent`.
"""

from __future__ import annotations

from skerry_runner.events.base import TEXT_MAX, Event, clip
from skerry_runner.events.guards import (
    AuditCommand,
    GuardrailDecision,
    LoopStop,
    LoopWarning,
    SafetyTermination,
    SubagentCapped,
)
from skerry_runner.events.model import (
    Call,
    LlmCircuit,
    LlmRetry,
    MessageInfo,
    ModelError,
    ModelRequest,
    ModelResponse,
)
from skerry_runner.events.run import PipelineFault, RunEnd, RunStart, ScriptUnused, UnusedStep
from skerry_runner.events.subagents import SubagentEnd, SubagentStart, SubagentStep
from skerry_runner.events.thread import (
    MemoryEnqueued,
    MemoryUpdated,
    Summary,
    TitleMade,
    TodoEntry,
    TodoWritten,
)
from skerry_runner.events.tools import (
    ArtifactPresented,
    FileStaged,
    McpServerState,
    QuestionAsked,
    SandboxAcquired,
    SandboxReleased,
    SandboxReplaced,
    ToolCall,
    ToolResult,
)

__all__ = [
    "EVENT_TYPES", "TEXT_MAX", "ArtifactPresented", "AuditCommand", "Call", "Event", "FileStaged", "GuardrailDecision", "LlmCircuit", "LlmRetry", "LoopStop", "LoopWarning", "McpServerState", "MemoryEnqueued", "MemoryUpdated", "MessageInfo", "ModelError", "ModelRequest", "ModelResponse",
    "PipelineFault", "QuestionAsked", "RunEnd", "RunStart", "SafetyTermination", "SandboxAcquired", "SandboxReleased", "SandboxReplaced", "ScriptUnused", "SubagentCapped", "SubagentEnd", "SubagentStart", "SubagentStep", "Summary", "TitleMade",
    "TodoEntry", "TodoWritten", "ToolCall", "ToolResult", "UnusedStep", "clip",
]  # fmt: skip

EVENT_TYPES: dict[str, type[Event]] = {kind.TYPE: kind for kind in Event.__subclasses__()}
