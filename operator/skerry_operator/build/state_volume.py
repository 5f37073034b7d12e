"""The PersistentVolumeClaim with a thread's state: made at the thread's first run, and not owned by any."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kubernetes import client

from skerry_api.agentrun import AgentRun
from skerry_api.base import format_time
from skerry_api.labels import Annotation, Component, Label
from skerry_api.names import sandbox_id, state_volume_name
from skerry_api.persistence import StateVolume
from skerry_api.resolve import thread_of
from skerry_operator.build.meta import component_labels, owner, wire
from skerry_operator.plan.volumeview import VolumeView

__all__ = ["build_state_volume", "state_volume_of", "volume_again"]


def _sandbox(run: AgentRun) -> str:
    return sandbox_id(run.metadata.namespace, run.spec.user_id, thread_of(run))


def state_volume_of(run: AgentRun) -> str:
    """Name of the volume of the run's thread."""
    return state_volume_name(_sandbox(run))


def build_state_volume(run: AgentRun, wanted: StateVolume) -> dict[str, Any]:
    """A new volume for the run's thread, as JSON.

    A run that is a thread of its own owns it: when the run is gone, nobody can name the thread any more.
    """
    return wire(
        client.V1PersistentVolumeClaim(
            api_version="v1",
            kind="PersistentVolumeClaim",
            metadata=client.V1ObjectMeta(
                name=state_volume_of(run),
                namespace=run.metadata.namespace,
                labels=_labels(_sandbox(run)),
                annotations={Annotation.RETENTION.value: str(wanted.retention_seconds)},
                owner_references=[owner(run)] if run.spec.thread_id is None else None,
            ),
            spec=client.V1PersistentVolumeClaimSpec(
                access_modes=[wanted.access_mode],
                resources=client.V1VolumeResourceRequirements(requests={"storage": wanted.size}),
                storage_class_name=wanted.storage_class_name,
            ),
        )
    )


def volume_again(
    volume: VolumeView, *, retention_seconds: int | None, unused_since: datetime | None, expired: bool = False
) -> dict[str, Any]:
    """The volume as it is, with these annotations of ours and no others: a server-side apply drops what it omits."""
    notes: dict[str, str] = {}
    if retention_seconds is not None:
        notes[Annotation.RETENTION.value] = str(retention_seconds)
    if unused_since is not None:
        notes[Annotation.UNUSED_SINCE.value] = format_time(unused_since)
    if expired:
        notes[Annotation.EXPIRED.value] = "true"
    spec: dict[str, Any] = {
        "accessModes": list(volume.access_modes), "resources": {"requests": {"storage": volume.size}},
    }  # fmt: skip
    if volume.storage_class is not None:
        spec["storageClassName"] = volume.storage_class
    meta: dict[str, Any] = {
        "name": volume.name, "namespace": volume.namespace, "uid": volume.uid,
        "resourceVersion": volume.resource_version, "labels": _labels(volume.sandbox), "annotations": notes,
    }  # fmt: skip
    if volume.owners:
        meta["ownerReferences"] = [dict(each) for each in volume.owners]
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec}


def _labels(sandbox: str) -> dict[str, str]:
    return component_labels(Component.STATE) | {Label.SANDBOX.value: sandbox}
