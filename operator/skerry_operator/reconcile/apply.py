"""All writes of a pass, one action at a time; answers go into the cache. See plan/actions.py for what counts as success."""

from __future__ import annotations

from typing import Any

from skerry_api.labels import Label
from skerry_operator.cache.store import Store
from skerry_operator.clock import Clock
from skerry_operator.errors import AlreadyExists, Conflict, Forbidden, Invalid
from skerry_operator.kube.kinds import NETWORK_POLICY, POD, RUN, SANDBOX, VOLUME, Kind, Raw
from skerry_operator.kube.port import RUNNER_MANAGER, KubePort
from skerry_operator.plan.actions import (
    Action,
    ApplyPolicy,
    ApplyVolume,
    CreatePod,
    CreateSandbox,
    DeletePod,
    DeleteRun,
    DeleteSandbox,
    DeleteVolume,
    ProbeIdle,
    Refusal,
    RefusalKind,
    RelayReport,
)
from skerry_operator.plan.lookup import Found
from skerry_operator.reconcile.idle import IdleProbe
from skerry_operator.reconcile.memory import Memory
from skerry_operator.reconcile.reader import Reader, hash_of

__all__ = ["Applier"]


class Applier:
    def __init__(
        self, *, port: KubePort, store: Store, reader: Reader, memory: Memory, probe: IdleProbe, clock: Clock
    ) -> None:
        self._port = port
        self._store = store
        self._reader = reader
        self._memory = memory
        self._probe = probe
        self._clock = clock

    async def do(self, action: Action) -> Refusal | None:
        """Carry the action out; a Refusal is the API server's no. Raises KubeError for all else."""
        try:
            return await self._perform(action)
        except Forbidden as error:
            return Refusal(RefusalKind.FORBIDDEN, error.message)
        except Invalid as error:
            return Refusal(RefusalKind.INVALID, error.message)

    async def _perform(self, action: Action) -> Refusal | None:
        match action:
            case CreatePod(manifest):
                return await self._create(POD, manifest)
            case CreateSandbox(manifest):
                return await self._create(SANDBOX, manifest)
            case ApplyPolicy(manifest):
                await self._policy(manifest)
            case ApplyVolume() | DeleteVolume():
                await self._volume(action)
            case DeletePod(namespace, name, uid, grace):
                await self._delete(POD, namespace, name, uid, grace)
            case DeleteSandbox(namespace, name, uid):
                await self._delete(SANDBOX, namespace, name, uid)
            case DeleteRun(namespace, name, uid):
                await self._delete(RUN, namespace, name, uid)
            case RelayReport():
                await self._relay(action)
            case ProbeIdle(namespace, sandbox):
                answer = await self._probe.ask(action, self._clock.now())
                self._memory.probes[namespace, sandbox] = answer
        return None

    async def _relay(self, report: RelayReport) -> None:
        relayed = await self._port.apply_status(
            RUN,
            report.namespace,
            report.name,
            report.status,
            resource_version=report.resource_version,
            manager=RUNNER_MANAGER,
        )
        self._store.put(RUN, relayed)

    async def _create(self, kind: Kind, manifest: dict[str, Any]) -> Refusal | None:
        namespace, name = manifest["metadata"]["namespace"], manifest["metadata"]["name"]
        try:
            made = await self._port.create(kind, namespace, manifest)
        except AlreadyExists as error:
            # Ours, from a create whose answer was lost or another operator's; or somebody else's.
            found = await self._port.get(kind, namespace, name)
            if found is None:
                raise  # it went in between: the next pass finds the name free
            self._store.put(kind, found)
            return None if _same_owner(found, manifest) else Refusal(RefusalKind.NAME_TAKEN, error.message)
        self._store.put(kind, made)
        return None

    async def _policy(self, manifest: dict[str, Any]) -> None:
        namespace, name = manifest["metadata"]["namespace"], manifest["metadata"]["name"]
        applied = await self._port.apply(NETWORK_POLICY, namespace, name, manifest)
        self._memory.policies[namespace, name] = Found(hash_of(applied))

    async def _volume(self, action: ApplyVolume | DeleteVolume) -> None:
        if isinstance(action, ApplyVolume):
            meta = action.manifest["metadata"]
            await self._port.apply(VOLUME, meta["namespace"], meta["name"], action.manifest)
            return
        try:
            await self._port.delete(VOLUME, action.namespace, action.name, uid=action.uid)
        except Conflict:
            return  # another one has the name: ours is gone

    async def _delete(
        self, kind: Kind, namespace: str, name: str, uid: str, grace: int | None = None
    ) -> None:
        before = self._store.version(kind, namespace, name)
        try:
            left = await self._port.delete(kind, namespace, name, uid=uid, grace_seconds=grace)
        except Conflict:  # another object has the name: ours is gone
            await self._reader.refresh(kind, namespace, name)
            return
        if left is None:
            self._store.gone(kind, namespace, name, before, self._clock.now())
        elif not self._store.put(kind, left):
            # The answer of a deletion that took effect at once may be no newer than what we knew.
            await self._reader.refresh(kind, namespace, name)


def _controller(raw: Raw) -> str | None:
    owners = raw["metadata"].get("ownerReferences") or ()
    return next((owner["uid"] for owner in owners if owner.get("controller")), None)


def _same_owner(found: Raw, manifest: Raw) -> bool:
    wanted = _controller(manifest)
    if wanted is not None:
        return _controller(found) == wanted
    label = Label.OPERATOR_MADE
    ours = (manifest["metadata"].get("labels") or {}).get(label)
    return ours is not None and (found["metadata"].get("labels") or {}).get(label) == ours
