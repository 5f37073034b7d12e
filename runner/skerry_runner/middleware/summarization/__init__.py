"""Summarization: a long history is replaced by a summary and what must stay word for word."""

from __future__ import annotations

from skerry_runner.middleware.summarization.row import Summarization

__all__ = ["Summarization"]
