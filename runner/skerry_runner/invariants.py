"""What must hold of the order of rows, as data: checked at every assembly, for a user's rows too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skerry_runner.compose.rows import PipelineError

__all__ = ["INVARIANTS", "After", "First", "Invariant", "Last", "check_order"]


@dataclass(frozen=True)
class First:
    """The row comes before all others."""

    row: str
    why: str

    def broken_by(self, names: Sequence[str]) -> str | None:
        """The row that stands in the way, if any."""
        return names[0] if self.row in names and names[0] != self.row else None


@dataclass(frozen=True)
class Last:
    """The row comes after all others."""

    row: str
    why: str
    but: frozenset[str] = frozenset()
    """Rows that may come after it all the same."""

    def broken_by(self, names: Sequence[str]) -> str | None:
        """The row that stands in the way, if any."""
        others = [name for name in names if name not in self.but]
        return others[-1] if self.row in others and others[-1] != self.row else None


@dataclass(frozen=True)
class After:
    """If both are there, `row` comes after `other`."""

    row: str
    other: str
    why: str

    def broken_by(self, names: Sequence[str]) -> str | None:
        """`other`, if it comes too late."""
        if self.row in names and self.other in names and names.index(self.row) < names.index(self.other):
            return self.other
        return None


Invariant = First | Last | After

_INSIDE_RETRIES = "what edits a request stands inside the retries, so that each attempt sees the same request"

INVARIANTS: tuple[Invariant, ...] = (
    First("RunGate", "limits are checked before any work is done"),
    After("Uploads", "ThreadData", "ids are checked before they name paths"),
    After("Sandbox", "ThreadData", "ids are checked before they name a sandbox"),
    After("Sandbox", "Uploads", "an eager sandbox gets the files of the message it begins with"),
    After("Sandbox", "ToolOutputBudget", "a result is cut to size with the sandbox that its tool acquired"),
    After("LLMErrorHandling", "DanglingToolCall", "a request is paired once, and whatever answers is mended"),
    After("ToolErrorHandling", "ToolOutputBudget", "errors are cut to size like other results"),
    After("ToolErrorHandling", "Sandbox", "a failing tool's sandbox is committed"),
    After("Guardrail", "Sandbox", "a call that is denied acquires no sandbox"),
    After("SandboxAudit", "Guardrail", "a command that is denied is not judged as well"),
    After("ToolErrorHandling", "Guardrail", "only calls that are allowed reach a tool"),
    After("SandboxAudit", "Sandbox", "a command that is blocked acquires no sandbox"),
    After("ToolErrorHandling", "SandboxAudit", "a warning is told with an error too"),
    After("DynamicContext", "Uploads", "the reminder moves the user's message with the list of files in it"),
    After("SkillActivation", "LLMErrorHandling", _INSIDE_RETRIES),
    After("TodoList", "LLMErrorHandling", _INSIDE_RETRIES),
    After("LoopDetection", "LLMErrorHandling", _INSIDE_RETRIES),
    After("LoopDetection", "TodoList", "a list is not taken as unfinished when the run was stopped"),
    After("LoopDetection", "TokenUsage", "tokens are put down to the calls that are left"),
    After("LoopDetection", "Title", "a title takes nothing from words of a guard"),
    After("TokenUsage", "TodoList", "an answer that is put off says what it used"),
    After("Title", "TokenUsage", "an answer is noted when all that follows it is done"),
    After("ViewImage", "LLMErrorHandling", _INSIDE_RETRIES),
    After("DeferredToolFilter", "LLMErrorHandling", _INSIDE_RETRIES),
    After("Summarization", "DynamicContext", "a summary keeps the reminder"),
    After("TodoList", "Summarization", "todos that a summary took out of sight are told again at once"),
    After("Memory", "DynamicContext", "a user's text is remembered without what was put before it"),
    After("ViewImage", "Summarization", "an image to be shown next is not summarised away"),
    After("DeferredToolFilter", "ToolErrorHandling", "an error in the search is a result"),
    After("SubagentLimit", "LLMErrorHandling", "an answer in place of the model's hands on no work"),
    After("SubagentLimit", "ToolErrorHandling", "an error in handing work on is a result"),
    After("SubagentLimit", "TodoList", "a list is not taken as unfinished when the run was stopped"),
    After("SubagentLimit", "TokenUsage", "tokens are put down to the calls that are left"),
    After("SubagentLimit", "Title", "a title takes nothing from words of a guard"),
    After("LoopDetection", "SubagentLimit", "calls that a loop was stopped for hand on no work"),
    Last(
        "SafetyFinishReason",
        "its after_model runs first: no row acts on calls of an answer that was stopped",
        but=frozenset({"Clarification"}),
    ),
    Last("Clarification", "no row may be in the middle of a call when a question pauses it"),
)


def check_order(names: Sequence[str], invariants: Sequence[Invariant] = INVARIANTS) -> None:
    """Check an order of row names.

    Raises:
        PipelineError: an invariant is broken; names the two rows and the reason.
    """
    for invariant in invariants:
        if other := invariant.broken_by(names):
            raise PipelineError(f"{invariant.row} and {other} stand in the wrong order: {invariant.why}")
