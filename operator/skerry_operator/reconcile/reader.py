"""Live reads: from the API server into the cache. An error is raised, never taken for absence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from skerry_api.labels import MANAGED_BY, Annotation, Component, Label
from skerry_operator.cache.store import Store
from skerry_operator.clock import Clock
from skerry_operator.errors import KubeError
from skerry_operator.kube.kinds import CONFIG_MAP, NETWORK_POLICY, NODE, POD, VOLUME, Kind, Raw
from skerry_operator.kube.port import KubePort
from skerry_operator.plan.lookup import Found, Lookup, Missing, Unknown
from skerry_operator.plan.podview import NodeState, PodView
from skerry_operator.plan.types import TextRef
from skerry_operator.plan.volumeview import VolumeView, view_volume

__all__ = ["POD_LABELS", "Reader", "hash_of"]

POD_LABELS = f"{Label.MANAGED_BY}={MANAGED_BY},{Label.COMPONENT} in ({Component.RUNNER},{Component.SANDBOX})"
"""Selects every Pod that the operator makes."""
_VOLUMES = f"{Label.MANAGED_BY}={MANAGED_BY},{Label.COMPONENT}={Component.STATE}"
_OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"


class Reader:
    def __init__(self, port: KubePort, store: Store, clock: Clock) -> None:
        self._port = port
        self._store = store
        self._clock = clock

    async def refresh(self, kind: Kind, namespace: str, name: str) -> None:
        """Let the cache know how the object is now, or that it is gone. Raises KubeError."""
        before = self._store.version(kind, namespace, name)
        raw = await self._port.get(kind, namespace, name)
        if raw is None:
            self._store.gone(kind, namespace, name, before, self._clock.now())
        else:
            self._store.put(kind, raw)

    async def refresh_runner_pods(self, namespace: str, run: str) -> None:
        """The same for all Pods of the run's name. Raises KubeError."""
        known = self._store.runner_pods(namespace, run, None)
        await self._refresh_pods(namespace, f"{Component.RUNNER},{Label.RUN}={run}", known)

    async def refresh_sandbox_pods(self, namespace: str, name: str) -> None:
        """The same for all Pods of the sandbox, and the one that has its name. Raises KubeError."""
        await self._refresh_pods(
            namespace,
            f"{Component.SANDBOX},{Label.SANDBOX}={name}",
            self._store.sandbox_pods(namespace, name),
        )
        await self.refresh(POD, namespace, name)

    async def _refresh_pods(self, namespace: str, component: str, known: Sequence[PodView]) -> None:
        selector = f"{Label.MANAGED_BY}={MANAGED_BY},{Label.COMPONENT}={component}"
        listing = await self._port.list(POD, namespace, labels=selector)
        for raw in listing.items:
            self._store.put(POD, raw)
        listed = {raw["metadata"]["name"] for raw in listing.items}
        for pod in known:
            if pod.name not in listed:
                self._store.drop(POD, namespace, pod.name, int(listing.resource_version), self._clock.now())

    async def lookup(self, kind: Kind, namespace: str, name: str) -> None:
        """Refresh what the cache lacks; an error leaves it lacking. (A watch of another kind may be ahead.)"""
        if self._store.table(kind).get(namespace, name) is None:
            await self.refresh(kind, namespace, name)

    async def texts(self, namespace: str, refs: Iterable[TextRef]) -> dict[TextRef, Lookup[str]]:
        """Keys of ConfigMaps, read anew each time: ConfigMaps are not watched. Each is read once."""
        refs = tuple(refs)
        maps = {name: await self._config_map(namespace, name) for name in dict.fromkeys(r.name for r in refs)}
        return {ref: _text(ref, maps[ref.name]) for ref in refs}

    async def _config_map(self, namespace: str, name: str) -> Lookup[Raw]:
        try:
            raw = await self._port.get(CONFIG_MAP, namespace, name)
        except KubeError as error:
            return Unknown(str(error))
        return Missing(f"ConfigMap {name}") if raw is None else Found(raw)

    async def policy_hash(self, namespace: str, name: str) -> Lookup[str]:
        """The template hash that a NetworkPolicy carries."""
        try:
            raw = await self._port.get(NETWORK_POLICY, namespace, name)
        except KubeError as error:
            return Unknown(str(error))
        return Missing(f"NetworkPolicy {name}") if raw is None else Found(hash_of(raw))

    async def volume(self, namespace: str, name: str) -> Lookup[VolumeView]:
        """A PersistentVolumeClaim, read anew each time: they are not watched."""
        try:
            raw = await self._port.get(VOLUME, namespace, name)
        except KubeError as error:
            return Unknown(str(error))
        return Missing(f"PersistentVolumeClaim {name}") if raw is None else Found(view_volume(raw))

    async def volumes(self, namespace: str) -> tuple[VolumeView, ...]:
        """Those of the namespace's threads. Raises KubeError."""
        listing = await self._port.list(VOLUME, namespace, labels=_VOLUMES)
        return tuple(view_volume(raw) for raw in listing.items)

    async def node_state(self, name: str) -> NodeState:
        """Whether a Node is there; Unknown whenever that cannot be said."""
        try:
            raw = await self._port.get(NODE, "", name)
        except KubeError:
            return NodeState.UNKNOWN
        if raw is None:
            return NodeState.GONE
        taints = (raw.get("spec") or {}).get("taints") or ()
        out = any(taint.get("key") == _OUT_OF_SERVICE for taint in taints)
        return NodeState.OUT_OF_SERVICE if out else NodeState.PRESENT


def _text(ref: TextRef, config_map: Lookup[Raw]) -> Lookup[str]:
    if not isinstance(config_map, Found):
        return config_map
    found = (config_map.value.get("data") or {}).get(ref.key)
    if found is not None:
        return Found("" if ref.mounted else found)
    if ref.mounted and ref.key in (config_map.value.get("binaryData") or {}):
        return Found("")
    return Missing(f"key {ref.key} in ConfigMap {ref.name}")


def hash_of(policy: Raw) -> str:
    """The template hash that stands in the policy's annotation; empty for one that somebody else made."""
    return str((policy["metadata"].get("annotations") or {}).get(Annotation.TEMPLATE_HASH, ""))
