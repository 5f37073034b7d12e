"""What others need to know to use an instance: `status -o json` and `env`."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from typing import Any

from skerry_devcluster.cluster import PULL_REGISTRY, Cluster, Mode

__all__ = ["Facts", "exports", "facts_of", "to_json"]


@dataclass(frozen=True)
class Facts:
    """Addresses and paths. Those of a node are None in a control-plane-only instance.

    `host_address` is the machine's end of the link, where Pods reach what the machine serves;
    `registry_push` is for the machine, `registry_pull` is what Pods' image references begin with.
    """

    name: str
    mode: Mode
    kubeconfig: str
    api_server: str
    node_address: str
    host_address: str
    pod_cidr: str
    service_cidr: str
    kubectl: str
    helm: str
    state: str
    logs: str
    network_namespace: str
    ctr: str | None = None
    registry_push: str | None = None
    registry_pull: str | None = None
    registries_conf: str | None = None
    containerd_socket: str | None = None
    runtime_class: str | None = None


_JSON_NAMES = {
    "api_server": "apiServerAddress",
    "pod_cidr": "podCIDR",
    "service_cidr": "serviceCIDR",
}


def facts_of(cluster: Cluster) -> Facts:
    paths, slot = cluster.paths, cluster.slot
    full = cluster.mode is Mode.FULL
    return Facts(
        name=cluster.name,
        mode=cluster.mode,
        kubeconfig=str(paths.kubeconfig),
        api_server=cluster.api_server,
        node_address=str(slot.node_address),
        host_address=str(slot.host_address),
        pod_cidr=str(slot.pods),
        service_cidr=str(slot.services),
        kubectl=str(cluster.binaries["kubectl"]),
        helm=str(cluster.binaries["helm"]),
        state=str(paths.state),
        logs=str(paths.log),
        network_namespace=str(paths.netns),
        ctr=str(cluster.binaries["ctr"]) if full else None,
        registry_push=cluster.registry if full else None,
        registry_pull=PULL_REGISTRY if full else None,
        registries_conf=str(paths.conf / "registries.conf") if full else None,
        containerd_socket=str(paths.containerd_socket) if full else None,
        runtime_class="sandboxed" if full else None,
    )


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def to_json(facts: Facts) -> dict[str, Any]:
    """The facts under their JSON names, without what the mode lacks."""
    return {
        _JSON_NAMES.get(key, _camel(key)): value for key, value in asdict(facts).items() if value is not None
    }


def exports(facts: Facts) -> str:
    """Lines for a shell to eval."""
    variables = {
        "KUBECONFIG": facts.kubeconfig,
        "SKERRY_CLUSTER": facts.name,
        "SKERRY_API_SERVER": facts.api_server,
        "SKERRY_NODE_ADDRESS": facts.node_address,
        "SKERRY_HOST_ADDRESS": facts.host_address,
        "SKERRY_KUBECTL": facts.kubectl,
        "SKERRY_HELM": facts.helm,
        "SKERRY_REGISTRY": facts.registry_push,
        "SKERRY_REGISTRY_PULL": facts.registry_pull,
        "SKERRY_REGISTRIES_CONF": facts.registries_conf,
        "SKERRY_CTR": facts.ctr,
    }
    return "".join(
        f"export {name}={shlex.quote(value)}\n" for name, value in variables.items() if value is not None
    )
