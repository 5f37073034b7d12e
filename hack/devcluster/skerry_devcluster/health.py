"""What an instance says about itself when asked."""

from __future__ import annotations

import http
import http.client
import socket
import ssl
from datetime import datetime
from pathlib import Path
from typing import Any

from skerry_devcluster.addons import COREDNS
from skerry_devcluster.kubeapi import KubeApi
from skerry_devcluster.pki import NODE

__all__ = [
    "accepts",
    "answers",
    "condition",
    "coredns_available",
    "default_account_exists",
    "last_report",
    "node_ready",
]


def condition(document: dict[str, Any] | None, kind: str) -> bool:
    """Whether the object's condition of this type is True."""
    found = (document or {}).get("status", {}).get("conditions", [])
    return any(entry["type"] == kind and entry["status"] == "True" for entry in found)


def node_ready(api: KubeApi, since: float) -> bool:
    """Ready, and said so by a kubelet that reported after `since` (seconds of the epoch): the object is kept."""
    node = api.get(f"/api/v1/nodes/{NODE}")
    lease = api.get(f"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{NODE}")
    return condition(node, "Ready") and last_report(node, lease) >= since


def last_report(node: dict[str, Any] | None, lease: dict[str, Any] | None) -> float:
    """When the kubelet last reported by either way, in seconds of the epoch; 0 if never."""
    conditions = (node or {}).get("status", {}).get("conditions", [])
    texts = [entry.get("lastHeartbeatTime") for entry in conditions if entry["type"] == "Ready"]
    texts.append((lease or {}).get("spec", {}).get("renewTime"))
    return max((datetime.fromisoformat(text).timestamp() for text in texts if text), default=0.0)


def default_account_exists(api: KubeApi) -> bool:
    return api.get("/api/v1/namespaces/default/serviceaccounts/default") is not None


def coredns_available(api: KubeApi) -> bool:
    """The Deployment's newest generation is available."""
    deployment = api.get(COREDNS)
    if deployment is None or not condition(deployment, "Available"):
        return False
    status = deployment["status"]
    return bool(status.get("observedGeneration") == deployment["metadata"]["generation"]) and status.get(
        "updatedReplicas"
    ) == status.get("replicas")


def answers(address: str, path: str, *, tls: bool = False) -> bool:
    """Whether GET `path` gives 200. With `tls` nobody is authenticated: health is no secret."""
    if tls:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection: http.client.HTTPConnection = http.client.HTTPSConnection(
            address, timeout=2, context=context
        )
    else:
        connection = http.client.HTTPConnection(address, timeout=2)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def accepts(path: Path) -> bool:
    """Whether somebody listens on a unix socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        try:
            client.connect(str(path))
        except OSError:
            return False
        return True
