"""Objects in a full cluster that its own user has not applied: CoreDNS, the RuntimeClass, the StorageClass. Pure."""

from __future__ import annotations

from typing import Any

from skerry_devcluster.cluster import Cluster
from skerry_devcluster.provisioner import STORAGE_CLASS, storage_class

__all__ = ["COREDNS", "RUNTIME_CLASS", "addons"]

RUNTIME_CLASS = "sandboxed"
_SYSTEM = "/api/v1/namespaces/kube-system"
_RBAC = "/apis/rbac.authorization.k8s.io/v1"
COREDNS = "/apis/apps/v1/namespaces/kube-system/deployments/coredns"

_COREFILE = """\
.:53 {
    errors
    health :8080 {
        lameduck 1s
    }
    ready :8181
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 5
    }
    cache 5
    reload
    loadbalance
}
"""


def addons(cluster: Cluster) -> list[tuple[str, dict[str, Any]]]:
    """(path, object) to apply, in this order."""
    system = {"namespace": "kube-system"}
    rules = [
        {
            "apiGroups": [""],
            "resources": ["endpoints", "services", "pods", "namespaces"],
            "verbs": ["list", "watch"],
        },
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"]},
    ]
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "system:coredns"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:coredns"},
        "subjects": [{"kind": "ServiceAccount", "name": "coredns", **system}],
    }
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "system:coredns"},
        "rules": rules,
    }
    runtime_class = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": RUNTIME_CLASS},
        "handler": "sandboxed",
    }
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "coredns", **system}}
    corefile = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "coredns", **system},
        "data": {"Corefile": _COREFILE},
    }
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "kube-dns", **system, "labels": {"k8s-app": "kube-dns"}},
        "spec": {
            "clusterIP": str(cluster.slot.dns_service),
            "selector": {"k8s-app": "kube-dns"},
            "ports": [
                {"name": "dns", "port": 53, "targetPort": 53, "protocol": "UDP"},
                {"name": "dns-tcp", "port": 53, "targetPort": 53, "protocol": "TCP"},
            ],
        },
    }
    return [
        (f"/apis/node.k8s.io/v1/runtimeclasses/{RUNTIME_CLASS}", runtime_class),
        (f"/apis/storage.k8s.io/v1/storageclasses/{STORAGE_CLASS}", storage_class()),
        (f"{_SYSTEM}/serviceaccounts/coredns", account),
        (f"{_RBAC}/clusterroles/system:coredns", role),
        (f"{_RBAC}/clusterrolebindings/system:coredns", binding),
        (f"{_SYSTEM}/configmaps/coredns", corefile),
        (COREDNS, _deployment(cluster)),
        (f"{_SYSTEM}/services/kube-dns", service),
    ]


def _deployment(cluster: Cluster) -> dict[str, Any]:
    labels = {"k8s-app": "kube-dns"}
    container = {
        "name": "coredns",
        "image": cluster.image("coredns"),
        "imagePullPolicy": "Never",
        "args": ["-conf", "/etc/coredns/Corefile"],
        "resources": {"requests": {"cpu": "20m", "memory": "30Mi"}, "limits": {"memory": "128Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "ports": [
            {"name": "dns", "containerPort": 53, "protocol": "UDP"},
            {"name": "dns-tcp", "containerPort": 53, "protocol": "TCP"},
        ],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8181}, "periodSeconds": 1},
        "volumeMounts": [{"name": "corefile", "mountPath": "/etc/coredns", "readOnly": True}],
    }
    pod = {
        "serviceAccountName": "coredns",
        "dnsPolicy": "Default",
        "priorityClassName": "system-cluster-critical",
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
            # Port 53 itself, as in other clusters: policies are judged behind the Service, and name the Pod's port.
            "sysctls": [{"name": "net.ipv4.ip_unprivileged_port_start", "value": "53"}],
        },
        "containers": [container],
        "volumes": [{"name": "corefile", "configMap": {"name": "coredns"}}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "coredns", "namespace": "kube-system", "labels": labels},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }
