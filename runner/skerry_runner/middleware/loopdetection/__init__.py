"""LoopDetection: an agent that does the same over and over is told so, and stopped if it goes on."""

from __future__ import annotations

from skerry_runner.middleware.loopdetection.row import LoopDetection

__all__ = ["LoopDetection"]
