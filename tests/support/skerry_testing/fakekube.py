"""An API server in memory behind the operator's port: versions, conflicts, preconditions, graceful deletion, watches.

It promises what `tests/integration/op/test_port_contract.py` checks of the real one, and no more: no schemas, no
admission, no garbage collection but by `collect_garbage`.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Literal, TypeVar

from skerry_api.base import format_time
from skerry_operator.errors import AlreadyExists, Conflict, NotFound
from skerry_operator.kube.kinds import POD, RUN, SANDBOX, Kind, Raw
from skerry_operator.kube.port import OPERATOR_MANAGER, Listing, Sink
from skerry_testing.fakeclock import FakeClock
from skerry_testing.fakessa import Path, apply
from skerry_testing.faults import Call, Faults

__all__ = ["FakeKube", "WatchEvent"]

Type = Literal["ADDED", "MODIFIED", "DELETED"]
WatchEvent = tuple[Kind, Type, Raw]
Object = dict[str, Any]
_Key = tuple[Kind, str, str]
T = TypeVar("T")
_GRACE = 30


class FakeKube:
    """A KubePort. `faults` may be changed at any time; reads and writes count alike."""

    def __init__(self, clock: FakeClock, faults: Faults | None = None) -> None:
        self.clock = clock
        self.faults = faults or Faults()
        self._objects: dict[_Key, Object] = {}
        self._owned: dict[_Key, dict[str, set[Path]]] = defaultdict(dict)
        self._versions = itertools.count(100)
        self._uids = itertools.count(1)
        self._version = 99
        self._watchers: list[Callable[[Kind, Type, Raw], None]] = []
        self._refusals: list[Callable[[Call, Raw], Exception | None]] = []

    # The port.

    async def get(self, kind: Kind, namespace: str, name: str) -> Raw | None:
        return await self._around("get", kind, namespace, name, lambda: self.peek(kind, namespace, name))

    async def list(
        self,
        kind: Kind,
        namespace: str | None = None,
        *,
        labels: str = "",
        metadata_only: bool = False,
        sink: Sink | None = None,
    ) -> Listing:
        return await self._around(
            "list",
            kind,
            namespace or "",
            "",
            lambda: self._list(kind, namespace, labels, metadata_only, sink),
        )

    async def create(self, kind: Kind, namespace: str, body: Raw) -> Raw:
        name = body["metadata"]["name"]
        return await self._around("create", kind, namespace, name, lambda: self.add(kind, body), body)

    async def replace(self, kind: Kind, namespace: str, name: str, body: Raw) -> Raw:
        return await self._around("update", kind, namespace, name, lambda: self._replace(kind, body), body)

    async def apply(self, kind: Kind, namespace: str, name: str, body: Raw) -> Raw:
        return await self._around("apply", kind, namespace, name, lambda: self._apply(kind, body), body)

    async def apply_status(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        status: Raw,
        *,
        resource_version: str,
        manager: str = OPERATOR_MANAGER,
    ) -> Raw:
        def work() -> Raw:
            return self.set_status(kind, namespace, name, status, manager, version=resource_version)

        return await self._around("status", kind, namespace, name, work, status)

    async def delete(
        self, kind: Kind, namespace: str, name: str, *, uid: str, grace_seconds: int | None = None
    ) -> Raw | None:
        def work() -> Raw | None:
            return self._delete(kind, namespace, name, uid, grace_seconds)

        return await self._around("delete", kind, namespace, name, work)

    # What tests do to it.

    def watch(self, watcher: Callable[[Kind, Type, Raw], None]) -> None:
        """Every change from now on, at once."""
        self._watchers.append(watcher)

    def refuse(self, rule: Callable[[Call, Raw], Exception | None]) -> None:
        """Admission: whatever error the rule gives for a call and its body is raised instead."""
        self._refusals.append(rule)

    def peek(self, kind: Kind, namespace: str, name: str) -> Object | None:
        """The object as it is, without a call."""
        found = self._objects.get((kind, namespace, name))
        return _copy(found) if found is not None else None

    def all(self, kind: Kind, namespace: str | None = None) -> tuple[Object, ...]:
        return tuple(
            _copy(found)
            for (of, where, _), found in sorted(self._objects.items(), key=lambda item: item[0][1:])
            if of == kind and namespace in {None, where}
        )

    def add(self, kind: Kind, body: Raw) -> Object:
        meta = body["metadata"]
        key = (kind, meta.get("namespace", ""), meta["name"])
        if key in self._objects:
            raise AlreadyExists(f'{kind.plural} "{meta["name"]}" already exists')
        made = _copy(dict(body))
        if kind in {RUN, SANDBOX}:
            made.pop("status", None)
        made["metadata"] |= {
            "uid": f"uid-{next(self._uids)}",
            "generation": 1,
            "creationTimestamp": format_time(self.clock.now()),
        }
        if kind is POD:
            made.setdefault("status", {"phase": "Pending"})
        return self._store(key, made, "ADDED")

    def edit(self, kind: Kind, namespace: str, name: str, change: Callable[[Object], None]) -> Object:
        """Change an object in place, as somebody else would."""
        key = (kind, namespace, name)
        edited = _copy(self._need(key))
        before = _copy(edited)
        change(edited)
        if edited.get("spec") != before.get("spec"):
            edited["metadata"]["generation"] += 1
        return self._store(key, edited, "MODIFIED")

    def set_status(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        status: Raw,
        manager: str,
        *,
        version: str | None = None,
    ) -> Object:
        key = (kind, namespace, name)
        found = self._need(key)
        if version is not None and version != found["metadata"]["resourceVersion"]:
            raise Conflict("the object has been modified")
        result = apply(found.get("status") or {}, dict(status), self._owned[key], manager)
        if result == (found.get("status") or {}):
            return _copy(found)
        return self._store(key, _copy(found) | {"status": result}, "MODIFIED")

    def remove(self, kind: Kind, namespace: str, name: str) -> None:
        """Gone at once, as a kubelet or a garbage collector ends a deletion."""
        key = (kind, namespace, name)
        gone = _copy(self._need(key))
        del self._objects[key]
        self._owned.pop(key, None)
        self._version = next(self._versions)
        gone["metadata"]["resourceVersion"] = str(self._version)
        self._notify(kind, "DELETED", gone)

    def collect_garbage(self) -> None:
        """Delete what has lost its controller, as the controller manager does."""
        uids = {found["metadata"]["uid"] for found in self._objects.values()}
        for (kind, namespace, name), found in list(self._objects.items()):
            owners = found["metadata"].get("ownerReferences") or ()
            if owners and not any(owner["uid"] in uids for owner in owners):
                self._delete(kind, namespace, name, found["metadata"]["uid"], None)

    # Inside.

    async def _around(
        self, verb: str, kind: Kind, namespace: str, name: str, work: Callable[[], T], body: Raw | None = None
    ) -> T:
        call = Call(verb, kind.name, namespace, name)

        def checked() -> T:
            for rule in self._refusals:
                error = rule(call, body or {})
                if error is not None:
                    raise error
            return work()

        return await self.faults.around(call, checked)

    def _list(
        self, kind: Kind, namespace: str | None, labels: str, metadata_only: bool, sink: Sink | None
    ) -> Listing:
        items = [
            found
            for found in self.all(kind, namespace)
            if _selects(labels, found["metadata"].get("labels") or {})
        ]
        if sink is not None:
            for found in items:
                sink(found)
        if metadata_only or sink is not None:
            items = [{"metadata": found["metadata"]} for found in items]
        return Listing(tuple(items), str(self._version))

    def _replace(self, kind: Kind, body: Raw) -> Object:
        meta = body["metadata"]
        key = (kind, meta.get("namespace", ""), meta["name"])
        found = self._need(key)
        version = meta.get("resourceVersion")
        if version is not None and version != found["metadata"]["resourceVersion"]:
            raise Conflict("the object has been modified")
        return self._store(key, _copy(dict(body)) | {"metadata": found["metadata"]}, "MODIFIED")

    def _apply(self, kind: Kind, body: Raw) -> Object:
        meta = body["metadata"]
        key = (kind, meta.get("namespace", ""), meta["name"])
        found = self._objects.get(key)
        for precondition in ("uid", "resourceVersion"):
            there = found["metadata"][precondition] if found else None
            if precondition in meta and meta[precondition] != there:
                raise Conflict(f"{precondition} is {there}, not {meta[precondition]}")
        if found is None:
            return self.add(kind, body)
        merged = _copy(found) | {name: _copy(value) for name, value in body.items() if name != "metadata"}
        merged["metadata"] |= {name: meta[name] for name in ("labels", "annotations") if name in meta}
        return _copy(found) if merged == found else self._store(key, merged, "MODIFIED")

    def _delete(self, kind: Kind, namespace: str, name: str, uid: str, grace: int | None) -> Object | None:
        key = (kind, namespace, name)
        found = self._objects.get(key)
        if found is None:
            return None
        if found["metadata"]["uid"] != uid:
            raise Conflict("the UID in the precondition does not match")
        alive = (found.get("status") or {}).get("phase") not in {"Succeeded", "Failed"}
        if kind is POD and grace != 0 and alive and (found.get("spec") or {}).get("nodeName"):
            if "deletionTimestamp" not in found["metadata"]:
                own = found["spec"].get("terminationGracePeriodSeconds", _GRACE)
                ends = self.clock.now() + timedelta(seconds=own if grace is None else grace)
                found = _copy(found)
                found["metadata"]["deletionTimestamp"] = format_time(ends)
                return self._store(key, found, "MODIFIED")
            return _copy(found)
        self.remove(kind, namespace, name)
        return found if kind is POD else None

    def _need(self, key: _Key) -> Object:
        if key not in self._objects:
            raise NotFound(f'{key[0].plural} "{key[2]}" not found')
        return self._objects[key]

    def _store(self, key: _Key, found: Object, event: Type) -> Object:
        self._version = next(self._versions)
        found["metadata"]["resourceVersion"] = str(self._version)
        found.setdefault("apiVersion", key[0].api_version)
        found.setdefault("kind", key[0].name)
        self._objects[key] = found
        self._notify(key[0], event, found)
        return _copy(found)

    def _notify(self, kind: Kind, event: Type, found: Object) -> None:
        for watcher in self._watchers:
            watcher(kind, event, _copy(found))


def _copy(value: T) -> T:
    """Objects are JSON, and this is much quicker than copy.deepcopy."""
    copied: T = json.loads(json.dumps(value))
    return copied


def _selects(selector: str, labels: Mapping[str, str]) -> bool:
    """`a=b`, and `a in (b,c)`, joined by commas."""
    rest = selector
    while rest:
        if " in (" in rest.split(",", 1)[0]:
            name, _, rest = rest.partition(" in (")
            values, _, rest = rest.partition(")")
            if labels.get(name) not in values.split(","):
                return False
        else:
            term, _, rest = rest.partition(",")
            name, _, value = term.partition("=")
            if labels.get(name) != value:
                return False
        rest = rest.removeprefix(",")
    return True
