"""The kinds of objects that the operator reads or writes, and their URLs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from skerry_api.agentprofile import AgentProfile
from skerry_api.agentrun import AgentRun
from skerry_api.base import API_VERSION
from skerry_api.sandbox import Sandbox
from skerry_api.sandboxclass import SandboxClass

__all__ = [
    "CLASS", "CONFIG_MAP", "EVENT", "LEASE", "NETWORK_POLICY", "NODE", "POD", "PROFILE", "RUN", "SANDBOX",
    "VOLUME", "Kind", "Raw", "kind_of",
]  # fmt: skip

Raw = Mapping[str, Any]
"""An object as the API server's JSON has it."""


@dataclass(frozen=True)
class Kind:
    """One resource type. `name` is the Kind in manifests, `plural` the word in URLs."""

    api_version: str
    name: str
    plural: str
    namespaced: bool = True

    def path(
        self, namespace: str | None = None, name: str | None = None, subresource: str | None = None
    ) -> str:
        """URL path of the collection (cluster-wide without a namespace), object or subresource."""
        parts = ["/apis" if "/" in self.api_version else "/api", self.api_version]
        if namespace and self.namespaced:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        if name is not None:
            parts.append(quote(name, safe=""))
        if subresource is not None:
            parts.append(subresource)
        return "/".join(parts)


RUN = Kind(API_VERSION, AgentRun.KIND, AgentRun.PLURAL)
SANDBOX = Kind(API_VERSION, Sandbox.KIND, Sandbox.PLURAL)
CLASS = Kind(API_VERSION, SandboxClass.KIND, SandboxClass.PLURAL)
PROFILE = Kind(API_VERSION, AgentProfile.KIND, AgentProfile.PLURAL)
POD = Kind("v1", "Pod", "pods")
CONFIG_MAP = Kind("v1", "ConfigMap", "configmaps")
VOLUME = Kind("v1", "PersistentVolumeClaim", "persistentvolumeclaims")
EVENT = Kind("v1", "Event", "events")
NODE = Kind("v1", "Node", "nodes", namespaced=False)
LEASE = Kind("coordination.k8s.io/v1", "Lease", "leases")
NETWORK_POLICY = Kind("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies")

_BY_NAME = {
    (kind.api_version, kind.name): kind
    for kind in (RUN, SANDBOX, CLASS, PROFILE, POD, CONFIG_MAP, EVENT, NODE, LEASE, NETWORK_POLICY, VOLUME)
}


def kind_of(manifest: Raw) -> Kind:
    """The kind of a manifest; raises KeyError for one that the operator has no business with."""
    return _BY_NAME[manifest["apiVersion"], manifest["kind"]]
