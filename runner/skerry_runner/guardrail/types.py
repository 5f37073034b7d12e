"""What a provider is asked, and what it answers. A user's own provider imports these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from typing_extensions import override

__all__ = ["ALLOWED", "Decision", "GuardedCall", "GuardrailProvider", "NoEndpoint", "PolicyError", "denied"]


@dataclass(frozen=True)
class GuardedCall:
    """A call that is about to be made. `agent` is `lead` or a subagent's type, `time` RFC 3339 in UTC."""

    tool: str
    arguments: Mapping[str, Any]
    id: str
    agent: str
    run: str
    run_name: str
    namespace: str
    profile: str
    thread: str
    user: str
    time: str


@dataclass(frozen=True)
class Decision:
    """`code` is stable and for programs, `reason` for the agent and for people."""

    allow: bool
    code: str = ""
    reason: str = ""


ALLOWED = Decision(allow=True)


def denied(code: str, reason: str) -> Decision:
    return Decision(allow=False, code=code, reason=reason)


class PolicyError(Exception):
    """A provider gave no decision; says why."""


class GuardrailProvider(Protocol):
    """One opinion. Whatever it raises, but cancellation and interrupts, means that no decision can be had."""

    async def decide(self, call: GuardedCall) -> Decision:
        """Whether the call may be made."""
        ...


class NoEndpoint(GuardrailProvider):
    """Stands where no endpoint was opened: there is no decision to be had."""

    @override
    async def decide(self, call: GuardedCall) -> Decision:
        raise PolicyError("no endpoint was opened")
