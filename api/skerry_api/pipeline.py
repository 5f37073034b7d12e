"""Settings of the pipeline's rows as a profile holds them: one key per row, named after it."""

from __future__ import annotations

from pydantic import Field

from skerry_api.base import KubeModel, list_map
from skerry_api.common import Parameters
from skerry_api.paths import DottedPath
from skerry_api.rows.clarification import ClarificationSettings
from skerry_api.rows.danglingtoolcall import DanglingToolCallSettings
from skerry_api.rows.deferredtoolfilter import DeferredToolFilterSettings
from skerry_api.rows.dynamiccontext import DynamicContextSettings
from skerry_api.rows.llmerrorhandling import LLMErrorHandlingSettings
from skerry_api.rows.loopdetection import LoopDetectionSettings
from skerry_api.rows.memory import MemorySettings
from skerry_api.rows.safetyfinishreason import SafetyFinishReasonSettings
from skerry_api.rows.sandboxaudit import SandboxAuditSettings
from skerry_api.rows.skillactivation import SkillActivationSettings
from skerry_api.rows.subagentlimit import SubagentLimitSettings
from skerry_api.rows.summarization import SummarizationSettings
from skerry_api.rows.title import TitleSettings
from skerry_api.rows.todolist import TodoListSettings
from skerry_api.rows.tokenusage import TokenUsageSettings
from skerry_api.rows.tooloutputbudget import ToolOutputBudgetSettings
from skerry_api.rows.uploads import UploadsSettings
from skerry_api.rows.viewimage import ViewImageSettings

__all__ = ["CustomRow", "PipelineSettings"]


class CustomRow(KubeModel):
    """A middleware of the user's own, which the runner image holds."""

    path: DottedPath = Field(
        description="Its class, an AgentMiddleware of LangChain with asynchronous hooks, as `package.module:Class`."
    )
    settings: Parameters = Field(
        default={},
        description="Arguments of its constructor, by name; values are JSON where they parse as such, else text.",
    )


class PipelineSettings(KubeModel):
    tool_output_budget: ToolOutputBudgetSettings = Field(
        default=ToolOutputBudgetSettings(), description="Long results of tools."
    )
    uploads: UploadsSettings = Field(default=UploadsSettings(), description="Files that a person gave.")
    dangling_tool_call: DanglingToolCallSettings = Field(
        default=DanglingToolCallSettings(), description="Tool calls without results."
    )
    llm_error_handling: LLMErrorHandlingSettings = Field(
        default=LLMErrorHandlingSettings(), description="Failing model calls."
    )
    sandbox_audit: SandboxAuditSettings = Field(
        default=SandboxAuditSettings(), description="The gate before bash."
    )
    dynamic_context: DynamicContextSettings = Field(
        default=DynamicContextSettings(), description="What the model is told beside the user's words."
    )
    skill_activation: SkillActivationSettings = Field(
        default=SkillActivationSettings(), description="Skills that a user calls with `/NAME`."
    )
    summarization: SummarizationSettings = Field(
        default=SummarizationSettings(), description="Long histories."
    )
    todo_list: TodoListSettings = Field(default=TodoListSettings(), description="Plan mode.")
    token_usage: TokenUsageSettings = Field(
        default=TokenUsageSettings(), description="What tokens were used for."
    )
    title: TitleSettings = Field(default=TitleSettings(), description="What a thread is about.")
    memory: MemorySettings = Field(
        default=MemorySettings(), description="What is remembered of a user beyond a thread."
    )
    view_image: ViewImageSettings = Field(
        default=ViewImageSettings(), description="Images, for models that see them."
    )
    deferred_tool_filter: DeferredToolFilterSettings = Field(
        default=DeferredToolFilterSettings(), description="Tools that the agent searches for."
    )
    subagent_limit: SubagentLimitSettings = Field(
        default=SubagentLimitSettings(), description="How much work is handed to subagents."
    )
    loop_detection: LoopDetectionSettings = Field(
        default=LoopDetectionSettings(), description="Agents that go in circles."
    )
    custom: tuple[CustomRow, ...] = Field(
        default=(),
        max_length=16,
        json_schema_extra=list_map("path"),
        description="Middlewares of the user's own, in this order, behind Skerry's own but the guards of an answer.",
    )
    safety_finish_reason: SafetyFinishReasonSettings = Field(
        default=SafetyFinishReasonSettings(), description="Answers that a provider stopped for safety."
    )
    clarification: ClarificationSettings = Field(
        default=ClarificationSettings(), description="Questions to people."
    )
