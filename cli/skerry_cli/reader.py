"""A short-lived Pod that reads a thread's state volume, made by the user's own rights. Pure."""

from __future__ import annotations

from typing import Any

__all__ = ["MOUNT", "SECONDS", "reader_pod"]

Json = dict[str, Any]
MOUNT = "/state"
SECONDS = 600
"""Its longest life: it ends by itself when we can't end it."""
_ID = 10001
"""uid and gid of the runner, to which the files belong."""


def reader_pod(name: str, namespace: str, claim: str, image: str) -> Json:
    """Mounts the claim read-only and waits. Fits Pod Security `restricted`; it is no Pod of the operator's."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app.kubernetes.io/name": "skerry-reader"}},
        "spec": {
            "restartPolicy": "Never",
            "activeDeadlineSeconds": SECONDS,
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "securityContext": {
                "runAsNonRoot": True, "runAsUser": _ID, "runAsGroup": _ID, "fsGroup": _ID, "fsGroupChangePolicy": "OnRootMismatch",
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [
                {
                    "name": "reader",
                    "image": image,
                    "command": ["sleep", str(SECONDS)],
                    "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"cpu": "500m", "memory": "128Mi"}},
                    "securityContext": {
                        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
                    },
                    "volumeMounts": [{"name": "state", "mountPath": MOUNT, "readOnly": True}],
                }
            ],
            "volumes": [{"name": "state", "persistentVolumeClaim": {"claimName": claim, "readOnly": True}}],
        },
    }  # fmt: skip
