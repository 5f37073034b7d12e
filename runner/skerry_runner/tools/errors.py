"""The one exception that a tool raises for the model's eyes."""

from __future__ import annotations

__all__ = ["ToolFailure"]


class ToolFailure(Exception):
    """The message becomes the tool's result, after `Error: `, with status error."""
