"""What one term of leadership remembers between passes. All of it can be lost: the world says it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from skerry_api.agentrun import AgentRun
from skerry_api.sandbox import Sandbox
from skerry_operator.cache.parse import Unreadable
from skerry_operator.cache.store import Change
from skerry_operator.plan.actions import Refusal
from skerry_operator.plan.lookup import Lookup
from skerry_operator.plan.position import bucketed
from skerry_operator.plan.types import AdmissionPlan, Decision, IdleAnswer, Waits

__all__ = ["Memory"]


@dataclass
class Memory:
    admission: dict[str, AdmissionPlan] = field(default_factory=dict)
    """The last plan of each namespace."""
    status_written: dict[str, datetime] = field(default_factory=dict)
    """By run UID."""
    probes: dict[tuple[str, str], IdleAnswer] = field(default_factory=dict)
    """By namespace and sandbox."""
    refusals: dict[tuple[str, str], Refusal] = field(default_factory=dict)
    """Sandboxes that may not be made, by namespace and name: there is no object that could say so."""
    policies: dict[tuple[str, str], Lookup[str]] = field(default_factory=dict)
    """What is known of NetworkPolicies (template hash, or that there is none) by namespace and name; emptied by every resync, which makes us look again."""

    stalled: dict[str, int] = field(default_factory=dict)
    """Generation at which a run that can't be read was last told so, by run UID."""

    def decision(self, namespace: str, uid: str) -> Decision | None:
        plan = self.admission.get(namespace)
        return plan.decisions.get(uid) if plan else None

    def admitted(self, namespace: str) -> frozenset[str]:
        plan = self.admission.get(namespace)
        return plan.admitted if plan else frozenset()

    def admit(self, namespace: str, plan: AdmissionPlan) -> Mapping[str, Decision]:
        """Keep the plan; gives what it decides anew, by run UID, as far as anybody can see it."""
        before = self.admission.get(namespace)
        self.admission[namespace] = plan
        if before is None:
            return plan.decisions
        return {
            uid: made
            for uid, made in plan.decisions.items()
            if _visible(before.decisions.get(uid)) != _visible(made)
        }

    def refuse(self, namespace: str, name: str, refusal: Refusal | None) -> bool:
        """Keep why the sandbox can't be made, or None: that it can. Whether that is news."""
        before = self.refusals.pop((namespace, name), None)
        if refusal is not None:
            self.refusals[namespace, name] = refusal
        return before != refusal

    def forget(self, change: Change) -> None:
        """The object of this change is no more."""
        if isinstance(change.old, AgentRun):
            self.status_written.pop(change.old.metadata.uid, None)
        elif isinstance(change.old, Sandbox):
            self.status_written.pop(change.old.metadata.uid, None)
            self.probes.pop((change.namespace, change.name), None)
        elif isinstance(change.old, Unreadable):
            self.stalled.pop(change.old.uid, None)


def _visible(decision: Decision | None) -> object:
    """What of a decision can reach a status: places far behind move in steps."""
    return (bucketed(decision.position), decision.reason) if isinstance(decision, Waits) else decision
