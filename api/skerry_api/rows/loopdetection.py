"""Settings of LoopDetection: how often is too often."""

from __future__ import annotations

from pydantic import Field

from skerry_api.base import KubeModel, list_map, validations
from skerry_api.rows.tooloutputbudget import ToolNameText

__all__ = ["LoopDetectionSettings", "ToolLoopLimits"]


class ToolLoopLimits(KubeModel):
    """Other numbers for one tool."""

    name: ToolNameText = Field(description="Name of the tool.")
    warn: int = Field(ge=1, le=100_000, description="Calls of it in a run that bring a warning.")
    hard: int = Field(ge=1, le=100_000, description="Calls of it in a run at which the run ends.")

    model_config = KubeModel.model_config | {"json_schema_extra": validations("loop-warn")}


class LoopDetectionSettings(KubeModel):
    """Two layers: the same action again and again, and too many calls of one tool."""

    enabled: bool = Field(default=True, description="Whether loops are looked for.")
    warn: int = Field(
        default=3, ge=1, le=1000, description="Times that one action may come in the window before a warning."
    )
    hard: int = Field(default=5, ge=1, le=1000, description="Times at which the run ends with LoopCapped.")
    window: int = Field(
        default=20, ge=1, le=1000, description="How many of the agent's last actions are looked at together."
    )
    tool_warn: int = Field(
        default=30, ge=1, le=100_000, description="Calls of one tool in a run that bring a warning."
    )
    tool_hard: int = Field(
        default=50,
        ge=1,
        le=100_000,
        description="Calls of one tool in a run at which it ends with LoopCapped.",
    )
    tools: tuple[ToolLoopLimits, ...] = Field(
        default=(),
        max_length=64,
        json_schema_extra=list_map("name"),
        description="Other numbers for single tools, such as those that are called often by nature.",
    )

    model_config = KubeModel.model_config | {
        "json_schema_extra": validations("loop-warn", "loop-window", "loop-any-tool")
    }

    def tool_limits(self, name: str) -> tuple[int, int]:
        """Calls of this tool that bring a warning, and that end the run."""
        own = [(tool.warn, tool.hard) for tool in self.tools if tool.name == name]
        return own[0] if own else (self.tool_warn, self.tool_hard)
