"""SafetyFinishReason: an answer that its provider stopped for safety runs no tools and says what happened.

It judges nothing: it reads the signal that the provider has given.
"""

from __future__ import annotations

from skerry_runner.middleware.safetyfinishreason.detect import SafetyStop, safety_stop
from skerry_runner.middleware.safetyfinishreason.rewrite import Action, SafeAnswer, made_safe
from skerry_runner.middleware.safetyfinishreason.row import SafetyFinishReason

__all__ = ["Action", "SafeAnswer", "SafetyFinishReason", "SafetyStop", "made_safe", "safety_stop"]
