"""Which volumes the instance's provisioner makes and removes, and what they are like."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skerry_devcluster.provisioner import PROVISIONER, Make, Remove, decide, storage_class, volume

Json = dict[str, Any]
SELECTED = {"volume.kubernetes.io/selected-node": "node"}


def claim(*, annotations: Json = SELECTED, meta: Json | None = None, **spec: Any) -> Json:
    return {
        "metadata": {"name": "state", "namespace": "agents", "uid": "u1", "annotations": annotations, **(meta or {})},
        "spec": {
            "storageClassName": "local", "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}, **spec,
        },
    }  # fmt: skip


def made(phase: str, *, by: str = PROVISIONER) -> Json:
    return {
        "metadata": {"name": "pvc-u1", "annotations": {"pv.kubernetes.io/provisioned-by": by}},
        "status": {"phase": phase},
    }


def test_a_claim_that_a_pod_waits_for_gets_a_volume_once() -> None:
    assert decide([claim()], []) == [Make(claim())]
    for phase in ("Available", "Bound"):
        assert decide([claim()], [made(phase)]) == []


@pytest.mark.parametrize(
    "other",
    [
        claim(annotations={}), claim(storageClassName="fast"), claim(volumeName="pv-by-hand"),
        claim(meta={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
    ],
    ids=["no Pod yet", "another class", "bound", "being deleted"],
)  # fmt: skip
def test_other_claims_get_none(other: Json) -> None:
    assert decide([other], []) == []


def test_what_a_claim_has_left_is_removed_and_nothing_else() -> None:
    assert decide([], [made("Released")]) == [Remove("pvc-u1")]
    assert decide([], [made("Bound"), made("Failed")]) == []
    assert decide([], [made("Released", by="another")]) == []


def test_a_volume_is_a_directory_of_its_own_on_the_node() -> None:
    spec = volume(claim(), Path("/instance/volumes"))["spec"]
    assert spec["local"] == {"path": "/instance/volumes/pvc-u1"}
    assert (spec["claimRef"]["namespace"], spec["claimRef"]["uid"]) == ("agents", "u1")
    assert (spec["capacity"], spec["accessModes"]) == ({"storage": "1Gi"}, ["ReadWriteOnce"])
    assert spec["persistentVolumeReclaimPolicy"] == "Delete"


def test_the_class_is_the_clusters_default() -> None:
    made_class = storage_class()
    assert made_class["metadata"]["annotations"]["storageclass.kubernetes.io/is-default-class"] == "true"
    assert made_class["provisioner"] == PROVISIONER
