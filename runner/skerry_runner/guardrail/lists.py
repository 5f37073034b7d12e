"""Allow and deny lists of tools. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from skerry_runner.guardrail.types import ALLOWED, Decision, GuardedCall, denied

__all__ = ["Lists"]


class Lists:
    """`deny` wins; `allow` None is all tools, empty is none."""

    def __init__(self, allow: Sequence[str] | None, deny: Sequence[str]) -> None:
        self._allow, self._deny = allow, deny

    async def decide(self, call: GuardedCall) -> Decision:
        """See GuardrailProvider."""
        if any(fnmatchcase(call.tool, pattern) for pattern in self._deny):
            return denied("tool-denied", "the profile denies this tool")
        if self._allow is not None and not any(fnmatchcase(call.tool, pattern) for pattern in self._allow):
            return denied("tool-not-allowed", "the profile does not allow this tool")
        return ALLOWED
