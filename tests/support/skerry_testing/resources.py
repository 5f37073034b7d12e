"""Where each kind lives in the API server's paths."""

from __future__ import annotations

from dataclasses import dataclass

from skerry_api.base import GROUP, VERSION
from skerry_api.kinds import KINDS

__all__ = ["RESOURCES", "Resource", "resource_of"]


@dataclass(frozen=True)
class Resource:
    api_version: str
    kind: str
    plural: str
    namespaced: bool = True

    def path(self, namespace: str, name: str = "", subresource: str = "") -> str:
        root = "/api" if "/" not in self.api_version else "/apis"
        parts = [root, self.api_version]
        if self.namespaced and namespace:
            parts += ["namespaces", namespace]
        return "/".join([*parts, self.plural, *(part for part in (name, subresource) if part)])


_RBAC = "rbac.authorization.k8s.io/v1"
_ADMISSION = "admissionregistration.k8s.io/v1"

RESOURCES: dict[str, Resource] = {
    resource.kind: resource
    for resource in (
        *(Resource(f"{GROUP}/{VERSION}", model.KIND, model.PLURAL) for model in KINDS.values()),
        Resource("v1", "ConfigMap", "configmaps"),
        Resource("v1", "Event", "events"),
        Resource("v1", "Namespace", "namespaces", namespaced=False),
        Resource("v1", "Node", "nodes", namespaced=False),
        Resource("v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
        Resource("v1", "Pod", "pods"),
        Resource("v1", "Secret", "secrets"),
        Resource("v1", "Service", "services"),
        Resource("v1", "ServiceAccount", "serviceaccounts"),
        Resource("apps/v1", "Deployment", "deployments"),
        Resource("batch/v1", "Job", "jobs"),
        Resource("coordination.k8s.io/v1", "Lease", "leases"),
        Resource("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies"),
        Resource("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
        Resource(_RBAC, "Role", "roles"),
        Resource(_RBAC, "RoleBinding", "rolebindings"),
        Resource(_RBAC, "ClusterRole", "clusterroles", namespaced=False),
        Resource(_RBAC, "ClusterRoleBinding", "clusterrolebindings", namespaced=False),
        Resource(_ADMISSION, "ValidatingAdmissionPolicy", "validatingadmissionpolicies", namespaced=False),
        Resource(
            _ADMISSION,
            "ValidatingAdmissionPolicyBinding",
            "validatingadmissionpolicybindings",
            namespaced=False,
        ),
        Resource(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            "customresourcedefinitions",
            namespaced=False,
        ),
        Resource("node.k8s.io/v1", "RuntimeClass", "runtimeclasses", namespaced=False),
    )
}


def resource_of(kind: str) -> Resource:
    """Raises KeyError for a kind that no test has needed yet: add it above."""
    return RESOURCES[kind]
