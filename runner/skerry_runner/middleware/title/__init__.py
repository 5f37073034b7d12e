"""Title: a few words that say what a thread is about, made after its first full exchange."""

from __future__ import annotations

from skerry_runner.middleware.title.row import Title

__all__ = ["Title"]
