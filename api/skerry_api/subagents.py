"""Subagents of a profile: agents that the run's own agent hands pieces of work to."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from skerry_api.base import KubeModel, list_map, validations
from skerry_api.common import DNS_LABEL
from skerry_api.toolname import ToolName

__all__ = ["LEADS_OWN_TOOLS", "MAX_TOKENS", "SubagentType", "Subagents"]

LEADS_OWN_TOOLS = frozenset({ToolName.VIEW_IMAGE, ToolName.PRESENT_FILES, ToolName.ASK_CLARIFICATION})
"""What they do is between the run's own agent and its users."""

MAX_TOKENS = 1_000_000
"""What one piece of work may use, if its type does not say."""

_TypeName = Annotated[str, StringConstraints(min_length=1, max_length=32, pattern=DNS_LABEL)]


class SubagentType(KubeModel):
    """A kind of subagent. One named like a built-in (`general-purpose`, `bash`) takes its place."""

    name: _TypeName = Field(description="What the agent asks for, and who the journal says acted.")
    description: str = Field(
        min_length=1, max_length=1024, description="What it is for: the agent reads it to choose."
    )
    system_prompt: str = Field(
        default="", max_length=32_768, description="Its system prompt; that of `general-purpose` if empty."
    )
    tools: tuple[ToolName, ...] | None = Field(
        default=None,
        max_length=64,
        json_schema_extra={"x-kubernetes-list-type": "set"},
        description="Tools it gets of those that the profile enables; all of them if absent, none if empty.",
    )
    mcp_tools: bool = Field(
        default=True, description="Whether it gets the tools of the profile's MCP servers too."
    )
    max_turns: int = Field(
        default=50, ge=1, le=10_000, description="Most calls of the model in one piece of work."
    )
    max_tokens: int = Field(
        default=MAX_TOKENS,
        ge=1,
        le=1_000_000_000_000,
        description="Once one piece of work has used so many tokens, its model is not called again. The last call may go over it.",
    )
    timeout_seconds: int = Field(
        default=900,
        ge=1,
        le=2_592_000,
        description="How long one piece of work may take, in seconds; waiting for its turn does not count.",
    )

    model_config = KubeModel.model_config | {
        "json_schema_extra": validations("subagent-name", "subagent-tools")
    }


class Subagents(KubeModel):
    """Whether the agent has the tool `task`, and for whom."""

    enabled: bool = Field(
        default=False, description="Whether the agent may hand work to subagents, with the tool `task`."
    )
    types: tuple[SubagentType, ...] = Field(
        default=(),
        max_length=16,
        json_schema_extra=list_map("name"),
        description="Kinds of subagents beside the built-in ones.",
    )
