"""The processes of an instance and their command lines. Pure."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skerry_devcluster.cluster import Cluster, Mode
from skerry_devcluster.namespaces import KUBELET_DIRECTORY
from skerry_devcluster.pki import NODE

__all__ = ["DEFAULT_GRACE_SECONDS", "GRACE_SECONDS", "STOP_ORDER", "Component", "components", "fingerprint"]

# Each stage ends before the next begins: first who makes Pods, then who writes objects, then the store.
STOP_ORDER: tuple[tuple[str, ...], ...] = (
    ("kubelet", "kube-proxy", "kube-network-policies", "docker-registry", "local-provisioner"),
    ("kube-scheduler", "kube-controller-manager", "containerd", "kube-apiserver"),
    ("etcd",),
)


DEFAULT_GRACE_SECONDS = 10.0
# The API server waits a minute for its watchers to leave. What it has answered is in etcd by then.
GRACE_SECONDS: Mapping[str, float] = {"kube-apiserver": 2.0}


@dataclass(frozen=True)
class Component:
    """One process. `node` ones run in the mount namespace too; `files` are the configs it reads."""

    name: str
    argv: tuple[str, ...]
    node: bool = False
    files: tuple[str, ...] = ()


def fingerprint(component: Component, contents: Mapping[str, str]) -> str:
    """Changes when a restart would make a difference: program, arguments, configuration."""
    inputs = [component.argv, component.node, {name: contents[name] for name in component.files}]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()[:16]


def components(cluster: Cluster) -> dict[str, Component]:
    """The processes of the cluster's mode by name, in the order they start."""
    listed = [_etcd(cluster), _apiserver(cluster)]
    if cluster.mode is Mode.FULL:
        listed = [_containerd(cluster), *listed, *_node(cluster)]
    return {component.name: component for component in listed}


def _etcd(cluster: Cluster) -> Component:
    client, peer = "http://127.0.0.1:2379", "http://127.0.0.1:2380"
    return Component(
        "etcd",
        (
            str(cluster.binaries["etcd"]),
            f"--name={NODE}",
            f"--data-dir={cluster.paths.state / 'etcd'}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster={NODE}={peer}",
            # a power cut may cost a development cluster its last seconds; fsync costs every write
            "--unsafe-no-fsync",
            "--snapshot-count=10000",
            "--auto-compaction-mode=periodic",
            "--auto-compaction-retention=10m",
            "--log-level=warn",
        ),
    )


def _apiserver(cluster: Cluster) -> Component:
    pki, address = cluster.paths.pki, cluster.slot.node_address
    return Component(
        "kube-apiserver",
        (
            str(cluster.binaries["kube-apiserver"]),
            "--etcd-servers=http://127.0.0.1:2379",
            f"--bind-address={address}",
            f"--advertise-address={address}",
            "--secure-port=6443",
            f"--service-cluster-ip-range={cluster.slot.services}",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--allow-privileged=true",
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
            f"--service-account-key-file={pki / 'sa.pub'}",
            f"--service-account-signing-key-file={pki / 'sa.key'}",
            f"--client-ca-file={pki / 'ca.crt'}",
            f"--tls-cert-file={pki / 'kube-apiserver.crt'}",
            f"--tls-private-key-file={pki / 'kube-apiserver.key'}",
            f"--kubelet-client-certificate={pki / 'kube-apiserver-kubelet-client.crt'}",
            f"--kubelet-client-key={pki / 'kube-apiserver-kubelet-client.key'}",
            f"--kubelet-certificate-authority={pki / 'ca.crt'}",
            "--kubelet-preferred-address-types=InternalIP",
            "--enable-bootstrap-token-auth=false",
            f"--requestheader-client-ca-file={pki / 'front-proxy-ca.crt'}",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={pki / 'front-proxy-client.crt'}",
            f"--proxy-client-key-file={pki / 'front-proxy-client.key'}",
            "--shutdown-delay-duration=0s",
        ),
    )


def _containerd(cluster: Cluster) -> Component:
    return Component(
        "containerd",
        (str(cluster.binaries["containerd"]), "--config", str(cluster.paths.conf / "containerd.toml")),
        node=True,
        files=("containerd.toml", "cni/10-ptp.conflist", "certs.d/localhost_5000_/hosts.toml"),
    )


def _node(cluster: Cluster) -> list[Component]:
    paths, binaries = cluster.paths, cluster.binaries

    bind = f"--bind-address={cluster.slot.node_address}"

    def own_config(component: str) -> str:
        return f"--kubeconfig={paths.component_kubeconfig(component)}"

    return [
        Component(
            "docker-registry",
            (str(binaries["docker-registry"]), "serve", str(paths.conf / "registry.yml")),
            files=("registry.yml",),
        ),
        Component(
            "kube-controller-manager",
            (
                str(binaries["kube-controller-manager"]),
                own_config("kube-controller-manager"),
                "--leader-elect=false",
                bind,
                f"--service-account-private-key-file={paths.pki / 'sa.key'}",
                f"--root-ca-file={paths.pki / 'ca.crt'}",
                "--use-service-account-credentials=true",
                f"--cluster-signing-cert-file={paths.pki / 'ca.crt'}",
                f"--cluster-signing-key-file={paths.pki / 'ca.key'}",
                # with the default rates the first ServiceAccount takes 10 s
                "--kube-api-qps=500",
                "--kube-api-burst=1000",
                f"--flex-volume-plugin-dir={paths.state / 'volume-plugins'}",
                "--concurrent-job-syncs=10",
            ),
        ),
        Component(
            "kube-scheduler",
            (
                str(binaries["kube-scheduler"]),
                own_config("kube-scheduler"),
                "--leader-elect=false",
                bind,
                "--kube-api-qps=200",
                "--kube-api-burst=400",
            ),
        ),
        Component(
            "kubelet",
            (
                str(binaries["kubelet"]),
                f"--config={paths.conf / 'kubelet.yaml'}",
                own_config("kubelet"),
                f"--root-dir={KUBELET_DIRECTORY}",
                f"--hostname-override={NODE}",
                f"--node-ip={cluster.slot.node_address}",
                f"--cert-dir={KUBELET_DIRECTORY}/pki",
            ),
            node=True,
            files=("kubelet.yaml", "resolv.conf"),
        ),
        Component(
            "kube-proxy",
            (str(binaries["kube-proxy"]), f"--config={paths.conf / 'kube-proxy.yaml'}"),
            node=True,
            files=("kube-proxy.yaml",),
        ),
        Component(
            "kube-network-policies",
            (
                str(binaries["kube-network-policies"]),
                f"--kubeconfig={paths.kubeconfig}",
                f"--node={NODE}",
                f"--pod-cidr={cluster.slot.pods}",
            ),
            node=True,
        ),
        Component(
            "local-provisioner",
            (
                "/usr/bin/env",
                f"PYTHONPATH={Path(__file__).resolve().parents[1]}",
                sys.executable,
                "-m",
                "skerry_devcluster.provisioner",
                str(cluster.slot.node_address),
                str(paths.pki),
                str(paths.volumes),
            ),
        ),
    ]
