"""Volumes for the cluster's default StorageClass: directories of the instance, made and removed as claims come and go.

Runs as a process of the instance, `python -m skerry_devcluster.provisioner ADDRESS PKI DIRECTORY`. Sizes are not
enforced: a development cluster's disk is the machine's.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skerry_devcluster.kubeapi import ApiError, KubeApi
from skerry_devcluster.pki import NODE

__all__ = ["PROVISIONER", "STORAGE_CLASS", "Make", "Remove", "decide", "storage_class", "volume"]

STORAGE_CLASS = "local"
PROVISIONER = "skerry.dev/local"
Raw = Mapping[str, Any]
_SELECTED_NODE = "volume.kubernetes.io/selected-node"
_MADE_BY = "pv.kubernetes.io/provisioned-by"
_POLL_SECONDS = 0.5


@dataclass(frozen=True)
class Make:
    """A claim that needs a volume."""

    claim: Raw


@dataclass(frozen=True)
class Remove:
    """A volume that its claim has left behind."""

    name: str


def storage_class() -> dict[str, Any]:
    """The cluster's default one; it waits for a Pod, as classes of most clusters do."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {
            "name": STORAGE_CLASS,
            "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
        },
        "provisioner": PROVISIONER,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def decide(claims: Iterable[Raw], volumes: Iterable[Raw]) -> list[Make | Remove]:
    """What is to be done now. Pure."""
    ours = [each for each in volumes if _annotations(each).get(_MADE_BY) == PROVISIONER]
    there = {each["metadata"]["name"] for each in ours}
    wanted = [each for each in claims if _wants(each) and _name(each) not in there]
    left = [each for each in ours if (each.get("status") or {}).get("phase") == "Released"]
    return [*(Make(each) for each in wanted), *(Remove(each["metadata"]["name"]) for each in left)]


def volume(claim: Raw, directory: Path) -> dict[str, Any]:
    """The PersistentVolume for a claim, in a directory of its own."""
    meta, spec = claim["metadata"], claim["spec"]
    on_node = {"key": "kubernetes.io/hostname", "operator": "In", "values": [NODE]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": _name(claim), "annotations": {_MADE_BY: PROVISIONER}},
        "spec": {
            "accessModes": spec["accessModes"],
            "capacity": {"storage": spec["resources"]["requests"]["storage"]},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": meta["namespace"],
                "name": meta["name"],
                "uid": meta["uid"],
            },
            # Not hostPath: the kubelet gives a local volume to the Pod's fsGroup.
            "local": {"path": str(directory / _name(claim))},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [on_node]}]}},
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": spec["storageClassName"],
        },
    }


def _annotations(raw: Raw) -> Raw:
    return raw["metadata"].get("annotations") or {}


def _name(claim: Raw) -> str:
    return f"pvc-{claim['metadata']['uid']}"


def _wants(claim: Raw) -> bool:
    spec = claim["spec"]
    return (
        spec.get("storageClassName") == STORAGE_CLASS
        and not spec.get("volumeName")
        and _SELECTED_NODE in _annotations(claim)
        and "deletionTimestamp" not in claim["metadata"]
    )


def step(api: KubeApi, directory: Path) -> None:
    """Look once and do what is to be done. Raises ApiError, OSError."""
    claims, volumes = api.get("/api/v1/persistentvolumeclaims"), api.get("/api/v1/persistentvolumes")
    if claims is None or volumes is None:
        return
    for action in decide(claims["items"], volumes["items"]):
        if isinstance(action, Make):
            made = volume(action.claim, directory)
            Path(made["spec"]["local"]["path"]).mkdir(mode=0o770, parents=True, exist_ok=True)
            api.apply(f"/api/v1/persistentvolumes/{made['metadata']['name']}", made)
        else:
            # First the data: what is left of a kill in between is still known to the cluster.
            if (place := directory / action.name).exists():
                shutil.rmtree(place)
            api.delete(f"/api/v1/persistentvolumes/{action.name}")


def main(address: str, pki: str, directory: str) -> None:
    """Until killed; a server that restarts is waited for."""
    api = KubeApi(address, Path(pki))
    while True:
        try:
            step(api, Path(directory))
        except (ApiError, OSError) as error:
            print(f"provisioner: {error}", file=sys.stderr, flush=True)
        time.sleep(_POLL_SECONDS)


if __name__ == "__main__":
    main(*sys.argv[1:])
