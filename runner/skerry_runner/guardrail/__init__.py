"""Who decides whether a call of a tool is made: providers behind one Protocol, asked one after another."""

from __future__ import annotations

from skerry_runner.guardrail.types import Decision, GuardedCall, GuardrailProvider

__all__ = ["Decision", "GuardedCall", "GuardrailProvider"]
