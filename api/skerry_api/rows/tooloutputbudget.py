"""Settings of ToolOutputBudget: how much of a tool's result stands in the message, and where the rest goes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from skerry_api.base import KubeModel, list_map

__all__ = ["ToolBudget", "ToolOutputBudgetSettings"]

ToolNameText = Annotated[str, StringConstraints(min_length=1, max_length=128)]
# One name below outputs: no separator, no `..`, and nothing a shell would take for an option.
Subdirectory = Annotated[
    str, StringConstraints(min_length=1, max_length=64, pattern=r"^\.?[A-Za-z0-9_][A-Za-z0-9._-]*$")
]


class ToolBudget(KubeModel):
    """Another threshold for one tool."""

    name: ToolNameText = Field(description="Name of the tool.")
    externalize_min_chars: int = Field(
        ge=0, le=10_000_000, description="Longest result that stays whole; 0: results never go to a file."
    )


class ToolOutputBudgetSettings(KubeModel):
    """A result longer than the threshold goes to a file; its message keeps a synopsis, head, tail and the path."""

    enabled: bool = Field(default=True, description="Whether results are held to a budget at all.")
    externalize_min_chars: int = Field(
        default=12_000,
        ge=0,
        le=10_000_000,
        description="Longest result that stays whole, in characters; 0: results never go to a file.",
    )
    preview_head_chars: int = Field(
        default=2000, ge=0, le=1_000_000, description="Beginning that the message keeps, in characters."
    )
    preview_tail_chars: int = Field(
        default=1000, ge=0, le=1_000_000, description="End that the message keeps, in characters."
    )
    fallback_max_chars: int = Field(
        default=30_000,
        ge=200,
        le=10_000_000,
        description="Longest result in a message where no file could be written, and in old messages, in characters.",
    )
    fallback_head_chars: int = Field(
        default=8000, ge=0, le=1_000_000, description="Beginning that is kept of a result cut in place."
    )
    fallback_tail_chars: int = Field(
        default=3000, ge=0, le=1_000_000, description="End that is kept of a result cut in place."
    )
    storage_subdir: Subdirectory = Field(
        default=".tool-results", description="Folder of the files, below /mnt/user-data/outputs."
    )
    exempt_tools: tuple[ToolNameText, ...] = Field(
        default=("read_file",),
        max_length=64,
        json_schema_extra={"x-kubernetes-list-type": "set"},
        description="Tools whose results are never touched: those with a limit of their own that read the files.",
    )
    tools: tuple[ToolBudget, ...] = Field(
        default=(),
        max_length=64,
        json_schema_extra=list_map("name"),
        description="Thresholds of single tools.",
    )

    def threshold(self, tool: str) -> int:
        """Longest result of this tool that stays whole; 0 for never to a file."""
        own = [budget.externalize_min_chars for budget in self.tools if budget.name == tool]
        return own[0] if own else self.externalize_min_chars
