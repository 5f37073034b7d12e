"""The one status apply of a transition: grant minted, answer cached, transition told."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import structlog

from skerry_api.agentrun import AgentRun
from skerry_api.sandbox import Sandbox
from skerry_operator.keys import Key
from skerry_operator.kube.kinds import RUN, SANDBOX
from skerry_operator.plan.types import Plan
from skerry_operator.reconcile.effects import Effects
from skerry_operator.reconcile.memory import Memory
from skerry_operator.reconcile.reader import Reader

__all__ = ["StatusWriter"]

_log = structlog.get_logger(__name__)
Subject = AgentRun | Sandbox


class StatusWriter:
    def __init__(self, effects: Effects, memory: Memory, reader: Reader) -> None:
        self._effects = effects
        self._memory = memory
        self._reader = reader

    async def write(self, subject: Subject, plan: Plan) -> None:
        """Apply the plan's status to the version it was made of. Raises KubeError, Conflict for one that is stale."""
        effects, meta = self._effects, subject.metadata
        kind = RUN if isinstance(subject, AgentRun) else SANDBOX
        status = plan.status or {}
        if plan.grant is not None:
            status = deepcopy(status)
            status["sandbox"]["grant"] = effects.minter.mint(plan.grant, effects.clock.now())
            effects.metrics.grants.inc()
        written = await effects.port.apply_status(
            kind, meta.namespace, meta.name, status, resource_version=meta.resource_version
        )
        effects.store.put(kind, written)
        self._memory.status_written[meta.uid] = effects.clock.now()
        self._tell(subject, status)
        effects.events.emit(subject, plan.events, effects.clock.now())

    async def refresh(self, key: Key, subject: Subject) -> None:
        """Read the object live after a conflict; its cached version was not the last."""
        kind = RUN if isinstance(subject, AgentRun) else SANDBOX
        await self._reader.refresh(kind, key.namespace, subject.metadata.name)

    def _tell(self, subject: Subject, status: dict[str, Any]) -> None:
        """A log line and a count where the phase changed; nothing otherwise."""
        phase = status.get("phase")
        if phase == subject.status.phase:
            return
        if isinstance(subject, AgentRun):
            self._effects.metrics.transitions.labels(str(phase)).inc()
        failure = status.get("failure") or {}
        _log.info(
            "phase",
            kind=subject.kind,
            namespace=subject.metadata.namespace,
            name=subject.metadata.name,
            before=subject.status.phase,
            phase=phase,
            epoch=status.get("epoch"),
            failure=failure.get("class"),
            detail=failure.get("message"),
        )
