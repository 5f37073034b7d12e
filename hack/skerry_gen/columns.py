"""What `kubectl get` shows of each kind, and which fields `--field-selector` may use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["COLUMNS", "SELECTABLE", "Column"]


@dataclass(frozen=True)
class Column:
    """A printer column; a wide one shows with `-o wide` only."""

    name: str
    path: str
    description: str
    type: Literal["string", "integer", "boolean", "date"] = "string"
    wide: bool = False

    def wire(self) -> dict[str, Any]:
        column = {
            "name": self.name,
            "type": self.type,
            "description": self.description,
            "jsonPath": self.path,
        }
        return {**column, "priority": 1} if self.wide else column


_READY = '.status.conditions[?(@.type=="Ready")].reason'
_AGE = Column("Age", ".metadata.creationTimestamp", "Time since creation.", "date")

COLUMNS: dict[str, tuple[Column, ...]] = {
    "AgentRun": (
        Column("Phase", ".status.phase", "Summary of the run's state."),
        Column("Reason", _READY, "Reason of the condition Ready."),
        Column("Sandbox", ".status.sandbox.name", "The run's sandbox, once asked for."),
        _AGE,
        Column("Profile", ".spec.profileRef.name", "The run's profile.", wide=True),
        Column("Title", ".status.runner.progress.title", "What the run is about.", wide=True),
        Column("Turns", ".status.runner.progress.turn", "Turns so far.", "integer", wide=True),
        Column("Tokens", ".status.runner.usage.total", "Tokens used.", "integer", wide=True),
        Column("Node", ".status.runner.node", "Node of the runner Pod.", wide=True),
    ),
    "AgentProfile": (
        Column("Model", ".spec.model.name", "The model unless a run picks another."),
        Column("Class", ".spec.sandbox.classRef.name", "The SandboxClass unless a run picks another."),
        Column("Acquire", ".spec.sandbox.acquire", "When a run gets its sandbox."),
        _AGE,
        Column("Endpoint", ".spec.model.baseUrl", "The model's endpoint.", wide=True),
        Column("Image", ".spec.runner.image", "Runner image, if not the default.", wide=True),
    ),
    "Sandbox": (
        Column("Phase", ".status.phase", "State of the sandbox."),
        Column("Class", ".spec.classRef.name", "Its SandboxClass."),
        Column("Holder", ".status.holder.name", "The live run that uses it."),
        Column("Idle", ".status.idleSince", "Time since nobody holds it.", "date"),
        _AGE,
        Column("User", ".spec.userId", "User of the thread.", wide=True),
        Column("Thread", ".spec.threadId", "The thread.", wide=True),
        Column("Reason", _READY, "Reason of the condition Ready.", wide=True),
        Column("Endpoint", ".status.endpoint", "URL of sandboxd.", wide=True),
    ),
    "SandboxClass": (
        Column("Provider", ".spec.provider", "What acquire and release mean."),
        Column("Egress", ".spec.network.egress", "What sandboxes may reach."),
        Column("Release", ".spec.release", "What happens when a run has ended."),
        Column("Idle", ".spec.idleSeconds", "Seconds that a parked sandbox is kept.", "integer"),
        _AGE,
        Column("Runtime", ".spec.template.runtimeClassName", "RuntimeClass of the Pods.", wide=True),
        Column("Image", ".spec.template.image", "Sandbox image, if not the default.", wide=True),
    ),
}

SELECTABLE: dict[str, tuple[str, ...]] = {
    "AgentRun": (".spec.profileRef.name", ".spec.userId", ".spec.threadId", ".status.phase"),
    "AgentProfile": (),
    "Sandbox": (".spec.classRef.name", ".spec.userId", ".spec.threadId", ".status.phase"),
    "SandboxClass": (),
}
