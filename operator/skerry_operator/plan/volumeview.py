"""What planners know of a thread's volume: a PersistentVolumeClaim, read live (they are not watched)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from skerry_api.labels import MANAGED_BY, Annotation, Component, Label

__all__ = ["VolumeView", "view_volume"]


@dataclass(frozen=True, slots=True)
class VolumeView:
    """`owners`, `access_modes`, `size` and `storage_class` are as they stand, to be applied again unchanged."""

    namespace: str
    name: str
    uid: str
    resource_version: str
    ours: bool
    sandbox: str
    terminating: bool
    unused_since: datetime | None
    retention_seconds: int | None
    expired: bool
    owners: tuple[Mapping[str, Any], ...]
    access_modes: tuple[str, ...]
    size: str
    storage_class: str | None


def view_volume(raw: Mapping[str, Any]) -> VolumeView:
    """Read a PersistentVolumeClaim; annotations that somebody made unreadable count as absent."""
    meta, spec = raw["metadata"], raw.get("spec") or {}
    labels, notes = meta.get("labels") or {}, meta.get("annotations") or {}
    ours = (labels.get(Label.MANAGED_BY), labels.get(Label.COMPONENT)) == (MANAGED_BY, Component.STATE)
    return VolumeView(
        namespace=meta.get("namespace", ""),
        name=meta["name"],
        uid=meta["uid"],
        resource_version=meta["resourceVersion"],
        ours=ours,
        sandbox=labels.get(Label.SANDBOX, ""),
        terminating="deletionTimestamp" in meta,
        unused_since=_time(notes.get(Annotation.UNUSED_SINCE)),
        retention_seconds=_number(notes.get(Annotation.RETENTION)),
        expired=Annotation.EXPIRED in notes,
        owners=tuple(meta.get("ownerReferences") or ()),
        access_modes=tuple(spec.get("accessModes") or ()),
        size=((spec.get("resources") or {}).get("requests") or {}).get("storage", ""),
        storage_class=spec.get("storageClassName"),
    )


def _time(text: str | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None
