"""The pipeline as one table: which row, when it is there, and why it stands where it stands.

Registration order is the contract: `before_*` run from first to last, `after_*` from last to first, `wrap_*` nest
with the first outermost.
"""

from __future__ import annotations

from collections.abc import Sequence

from skerry_api.agentprofile import ToolName
from skerry_api.document import RunDocument
from skerry_runner.customrows import build_custom
from skerry_runner.invariants import INVARIANTS, Invariant, check_order
from skerry_runner.middleware.clarification import Clarification
from skerry_runner.middleware.danglingtoolcall import DanglingToolCall
from skerry_runner.middleware.deferredtoolfilter import DeferredToolFilter
from skerry_runner.middleware.dynamiccontext import DynamicContext
from skerry_runner.middleware.guardrail import Guardrail
from skerry_runner.middleware.llmerrors import LLMErrorHandling
from skerry_runner.middleware.loopdetection import LoopDetection
from skerry_runner.middleware.memory import Memory
from skerry_runner.middleware.rungate import RunGate
from skerry_runner.middleware.safetyfinishreason import SafetyFinishReason
from skerry_runner.middleware.sandbox import Sandbox
from skerry_runner.middleware.sandboxaudit import SandboxAudit
from skerry_runner.middleware.skillactivation import SkillActivation
from skerry_runner.middleware.subagentlimit import SubagentLimit
from skerry_runner.middleware.summarization import Summarization
from skerry_runner.middleware.threaddata import ThreadData
from skerry_runner.middleware.title import Title
from skerry_runner.middleware.todolist import TodoList
from skerry_runner.middleware.tokenusage import TokenUsage
from skerry_runner.middleware.toolerrors import ToolErrorHandling
from skerry_runner.middleware.tooloutputbudget import ToolOutputBudget
from skerry_runner.middleware.uploads import Uploads
from skerry_runner.middleware.viewimage import ViewImage
from skerry_runner.rowspec import AnyRow, Presence, RowSpec, always, when
from skerry_runner.subagents.kinds import kinds_for

__all__ = ["BEFORE_CUSTOM", "BEHIND_CUSTOM", "ROWS", "AnyRow", "assemble", "rows_for"]

BEFORE_CUSTOM: tuple[RowSpec, ...] = (
    RowSpec(
        "RunGate",
        "First: a call over the limit must cost no other row's work; outermost, so that the record shows the result "
        "that the model gets.",
        lambda document: RunGate(
            pauses=document.pipeline.clarification.enabled and ToolName.ASK_CLARIFICATION in document.tools
        ),
        always,
    ),
    RowSpec(
        "ToolOutputBudget",
        "Outside every row that makes or changes a result, so that none escapes it.",
        lambda document: ToolOutputBudget(document.pipeline.tool_output_budget),
        when(
            lambda document: document.pipeline.tool_output_budget.enabled, "pipeline.toolOutputBudget.enabled"
        ),
    ),
    RowSpec(
        "ThreadData",
        "Before every row that works with the thread's files: it refuses ids that must not become paths.",
        lambda _: ThreadData(),
        always,
    ),
    RowSpec(
        "Uploads",
        "After ThreadData, whose ids name the folder; before Sandbox, which takes the files in.",
        lambda document: Uploads(document.pipeline.uploads),
        always,
        subagents=False,
    ),
    RowSpec(
        "Sandbox",
        "After ThreadData, whose ids name the sandbox; outside ToolErrorHandling, so that a sandbox that a failing "
        "tool acquired is committed all the same.",
        lambda _: Sandbox(),
        always,
    ),
    RowSpec(
        "DanglingToolCall",
        "Outside LLMErrorHandling: a request is paired once for all attempts, and the answer of the last is mended.",
        lambda document: DanglingToolCall(document.pipeline.dangling_tool_call),
        always,
    ),
    RowSpec(
        "LLMErrorHandling",
        "Outside every row that edits a request: an attempt runs them again, and they give the same request.",
        lambda _: LLMErrorHandling(),
        always,
    ),
    RowSpec(
        "Guardrail",
        "Inside Sandbox, so that a denied call acquires none; outside SandboxAudit: what is denied needs no judgement.",
        Guardrail,
        when(lambda document: document.guardrail is not None, "guardrail"),
    ),
    RowSpec(
        "SandboxAudit",
        "Inside Sandbox, so that a blocked command acquires none; outside ToolErrorHandling, whose errors it may mark.",
        lambda document: SandboxAudit(document.pipeline.sandbox_audit),
        always,
    ),
    RowSpec(
        "ToolErrorHandling",
        "Last of the base rows: all of them see results, none sees a tool's exception.",
        lambda _: ToolErrorHandling(),
        always,
    ),
    RowSpec(
        "DynamicContext",
        "After Uploads: the user's message moves as a whole, with the list of files in it.",
        lambda document: DynamicContext(document.pipeline.dynamic_context),
        always,
        subagents=False,
    ),
    RowSpec(
        "SkillActivation",
        "After DynamicContext: a reminder stands before the user's message, a skill between the two.",
        lambda document: SkillActivation(document.pipeline.skill_activation),
        always,
        subagents=False,
    ),
    RowSpec(
        "Summarization",
        "After DynamicContext, whose reminder it keeps; before the rows that tell again what left the history.",
        lambda document: Summarization(document.pipeline.summarization),
        when(lambda document: document.pipeline.summarization.enabled, "pipeline.summarization.enabled"),
        subagents=False,
    ),
    RowSpec(
        "TodoList",
        "After Summarization, which may have taken the todos out of sight.",
        lambda _: TodoList(),
        when(lambda document: document.pipeline.todo_list.enabled, "pipeline.todoList.enabled"),
        subagents=False,
    ),
    RowSpec(
        "TokenUsage",
        "Before Title and the guards: its after_model runs when they have made of the answer what it stays.",
        lambda _: TokenUsage(),
        when(lambda document: document.pipeline.token_usage.enabled, "pipeline.tokenUsage.enabled"),
    ),
    RowSpec(
        "Title",
        "Before the guards of an answer: its after_model knows by their mark what they wrote, and takes nothing from it.",
        lambda document: Title(document.pipeline.title),
        always,
        subagents=False,
    ),
    RowSpec(
        "Memory",
        "After the rows that reword the answer; its after_agent runs before the base rows let go of what they hold.",
        lambda _: Memory(),
        when(lambda document: document.pipeline.memory.enabled, "pipeline.memory.enabled"),
        subagents=False,
    ),
    RowSpec(
        "ViewImage",
        "After Summarization, so that an image is never summarised before it was seen.",
        lambda document: ViewImage(document.pipeline.view_image),
        when(
            lambda document: document.model.vision and document.pipeline.view_image.enabled,
            "model.vision and pipeline.viewImage.enabled",
        ),
        subagents=False,
    ),
    RowSpec(
        "DeferredToolFilter",
        "Innermost of the rows that edit a request: what it hides stays hidden.",
        lambda document: DeferredToolFilter(
            document.pipeline.deferred_tool_filter,
            [(server.name, server.description) for server in document.mcp_servers if server.deferred],
        ),
        when(
            lambda document: any(server.deferred for server in document.mcp_servers),
            "deferred of any of mcpServers",
        ),
    ),
    RowSpec(
        "SubagentLimit",
        "Before LoopDetection, whose after_model runs first: calls that a loop is stopped for count as handed on by nobody.",
        lambda document: SubagentLimit(document.pipeline.subagent_limit, kinds_for(document)),
        when(lambda document: document.subagents.enabled, "subagents.enabled"),
        subagents=False,
    ),
    RowSpec(
        "LoopDetection",
        "Last of ours before a user's rows: its warning ends the request, and its after_model runs after "
        "SafetyFinishReason alone, so that no call counts that is not to be trusted.",
        lambda document: LoopDetection(document.pipeline.loop_detection),
        when(lambda document: document.pipeline.loop_detection.enabled, "pipeline.loopDetection.enabled"),
    ),
)

BEHIND_CUSTOM: tuple[RowSpec, ...] = (
    RowSpec(
        "SafetyFinishReason",
        "Behind a user's rows: its after_model runs before theirs, and no row sees calls of an answer that was stopped.",
        lambda document: SafetyFinishReason(document.pipeline.safety_finish_reason),
        when(
            lambda document: document.pipeline.safety_finish_reason.enabled,
            "pipeline.safetyFinishReason.enabled",
        ),
    ),
    RowSpec(
        "Clarification",
        "Last, so innermost: when it pauses the run, every row around has let the call pass, and none is in the middle "
        "of something.",
        lambda document: Clarification(document.pipeline.clarification),
        always,
        subagents=False,
    ),
)

ROWS: tuple[RowSpec, ...] = (*BEFORE_CUSTOM, *BEHIND_CUSTOM)


def _custom(document: RunDocument) -> list[RowSpec]:
    return [
        RowSpec(
            row.path.rpartition(":")[2],
            "A user's row.",
            lambda _, row=row, index=index: build_custom(row, index),  # type: ignore[misc]  # defaults bind the loop's values
            lambda _, index=index: Presence(present=True, reason=f"pipeline.custom[{index}]"),  # type: ignore[misc]  # likewise
            subagents=False,
        )
        for index, row in enumerate(document.pipeline.custom)
    ]


def rows_for(document: RunDocument) -> list[RowSpec]:
    """The table for one document, with the user's rows in their place, present or not."""
    return [*BEFORE_CUSTOM, *_custom(document), *BEHIND_CUSTOM]


def assemble(
    document: RunDocument,
    *,
    rows: Sequence[RowSpec] | None = None,
    invariants: Sequence[Invariant] = INVARIANTS,
    subagent: bool = False,
) -> list[AnyRow]:
    """The rows of the lead agent's pipeline, or of a subagent's.

    Raises:
        PipelineError: an invariant is broken.
        InvalidDocument: a row of the user's own can't be made.
    """
    table = rows_for(document) if rows is None else rows
    chosen = [row for row in table if (row.subagents or not subagent) and row.when(document).present]
    made = [row.build(document) for row in chosen]
    # By the names that the rows themselves have: a user's row chooses its own.
    check_order([row.name for row in made], invariants)
    return made
