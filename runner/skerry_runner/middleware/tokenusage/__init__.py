"""TokenUsage: every answer says what its tokens were used for, those of its subagents included."""

from __future__ import annotations

from skerry_runner.middleware.tokenusage.row import TokenUsage

__all__ = ["TokenUsage"]
