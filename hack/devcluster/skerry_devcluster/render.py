"""Configuration files of an instance as texts. Pure; JSON where YAML is read, since JSON is YAML."""

from __future__ import annotations

import json
from typing import Any

from skerry_devcluster.cluster import PULL_REGISTRY, Cluster, Mode
from skerry_devcluster.pki import NODE

__all__ = ["render"]

_ROOM_FOR_A_NODE = 200
_PROCESSES_PER_POD = 1024


def _json(document: Any) -> str:
    return json.dumps(document, indent=1) + "\n"


def render(cluster: Cluster) -> dict[str, str]:
    """Each file's text by its path under the instance's `conf` directory."""
    if cluster.mode is Mode.CONTROL_PLANE:
        return {}
    return {
        "containerd.toml": _containerd(cluster),
        "kubelet.yaml": _json(_kubelet(cluster)),
        "kube-proxy.yaml": _json(_kube_proxy(cluster)),
        "cni/10-ptp.conflist": _json(_cni(cluster)),
        "certs.d/localhost_5000_/hosts.toml": (
            f'server = "http://{cluster.registry}"\n'
            f'[host."http://{cluster.registry}"]\n  capabilities = ["pull", "resolve"]\n'
        ),
        "registry.yml": _json(_registry(cluster)),
        # for programs that build images on the machine: pulls of the in-cluster names work there too
        "registries.conf": (
            "unqualified-search-registries = []\n[[registry]]\n"
            f'prefix = "{PULL_REGISTRY}"\nlocation = "{cluster.registry}"\ninsecure = true\n'
        ),
        # the Pods' own resolver: CoreDNS and the kubelet's dnsPolicy Default have nobody upstream
        "resolv.conf": f"nameserver {cluster.slot.dns_service}\n",
    }


def _containerd(cluster: Cluster) -> str:
    paths = cluster.paths
    runtime = "plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes"
    runtimes = "".join(
        f"""
    [{runtime}.{name}]
      runtime_type = 'io.containerd.runc.v2'
      [{runtime}.{name}.options]
        BinaryName = '{cluster.binaries["runc"]}'
        SystemdCgroup = false
"""
        for name in ("runc", "sandboxed")
    )
    hugetlb = (
        "  tolerate_missing_hugetlb_controller = true\n  disable_hugetlb_controller = true\n"
        if cluster.cgroup_version == 1
        else ""
    )
    unused = [
        *(
            f"io.containerd.snapshotter.v1.{name}"
            for name in ("btrfs", "zfs", "devmapper", "blockfile", "erofs")
        ),
        "io.containerd.differ.v1.erofs",
        "io.containerd.tracing.processor.v1.otlp",
        "io.containerd.internal.v1.tracing",
    ]
    return f"""version = 3
root = '{paths.state / "containerd"}'
state = '{paths.run / "containerd"}'
disabled_plugins = {json.dumps(unused)}
[grpc]
  address = '{paths.containerd_socket}'
[ttrpc]
  address = '{paths.containerd_socket}.ttrpc'
[plugins.'io.containerd.internal.v1.opt']
  path = '{paths.state / "containerd-opt"}'
[plugins.'io.containerd.nri.v1.nri']
  disable = false
  socket_path = '/run/nri/nri.sock'
  plugin_path = '{paths.state / "nri-plugins"}'
  plugin_config_path = '{paths.state / "nri-config"}'
[plugins.'io.containerd.cri.v1.images']
  snapshotter = 'overlayfs'
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = '{cluster.image("pause")}'
  [plugins.'io.containerd.cri.v1.images'.registry]
    config_path = '{paths.conf / "certs.d"}'
[plugins.'io.containerd.cri.v1.runtime']
  # a negative score needs CAP_SYS_RESOURCE, which a container that plays the machine may lack
  restrict_oom_score_adj = true
  max_container_log_line_size = 262144
  netns_mounts_under_state_dir = true
{hugetlb}  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ['/usr/lib/cni']
    conf_dir = '{paths.conf / "cni"}'
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = 'runc'
{runtimes}"""


def _kubelet(cluster: Cluster) -> dict[str, Any]:
    paths, slot = cluster.paths, cluster.slot
    on_cgroup_v1 = {"failCgroupV1": False} if cluster.cgroup_version == 1 else {}
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        **on_cgroup_v1,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(paths.pki / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "address": str(slot.node_address),
        "healthzBindAddress": str(slot.node_address),
        "tlsCertFile": str(paths.pki / "kubelet-server.crt"),
        "tlsPrivateKeyFile": str(paths.pki / "kubelet-server.key"),
        "containerRuntimeEndpoint": f"unix://{paths.containerd_socket}",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": paths.cgroup,
        "failSwapOn": False,
        "oomScoreAdj": 0,
        "clusterDNS": [str(slot.dns_service)],
        "clusterDomain": "cluster.local",
        "resolvConf": str(paths.conf / "resolv.conf"),
        # the machine's disk is not this node's to judge
        "evictionHard": {},
        "enforceNodeAllocatable": [],
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
        "maxPods": _ROOM_FOR_A_NODE,
        # a fork bomb in a sandbox is not to take the machine along
        "podPidsLimit": _PROCESSES_PER_POD,
        "registerNode": True,
        # tests kill containers again and again: minutes of back-off would tell them nothing
        "crashLoopBackOff": {"maxContainerRestartPeriod": "2s"},
        "syncFrequency": "2s",
        "kubeAPIQPS": 200,
        "kubeAPIBurst": 400,
        "eventRecordQPS": 100,
        "eventBurst": 200,
        "registryPullQPS": 0,
        "volumeStatsAggPeriod": "10s",
        "nodeStatusUpdateFrequency": "5s",
        "serializeImagePulls": False,
        # else an image that was loaded is not found once one with the same content was pulled
        "imagePullCredentialsVerificationPolicy": "NeverVerify",
        "podLogsDir": str(paths.state / "pod-logs"),
        "staticPodPath": "",
        "volumePluginDir": str(paths.state / "volume-plugins"),
    }


def _kube_proxy(cluster: Cluster) -> dict[str, Any]:
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
        "clientConnection": {"kubeconfig": str(cluster.paths.component_kubeconfig("kube-proxy"))},
        "clusterCIDR": str(cluster.slot.pods),
        "detectLocalMode": "ClusterCIDR",
        "hostnameOverride": NODE,
        "bindAddress": str(cluster.slot.node_address),
        "healthzBindAddress": f"{cluster.slot.node_address}:10256",
        "metricsBindAddress": "127.0.0.1:10249",
        "oomScoreAdj": 0,
        # the machine's connection table is not this node's to size
        "conntrack": {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
        "nftables": {"masqueradeAll": False, "minSyncPeriod": "100ms"},
    }


def _cni(cluster: Cluster) -> dict[str, Any]:
    ipam = {
        "type": "host-local",
        "dataDir": str(cluster.paths.run / "cni-ipam"),
        "ranges": [[{"subnet": str(cluster.slot.pods)}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    return {
        "cniVersion": "1.0.0",
        "name": f"skerry-{cluster.name}",
        "plugins": [
            # routed, not bridged: needs no bridge netfilter
            {"type": "ptp", "mtu": 1500, "ipMasq": False, "ipam": ipam},
            {"type": "portmap", "capabilities": {"portMappings": True}, "snat": False},
        ],
    }


def _registry(cluster: Cluster) -> dict[str, Any]:
    return {
        "version": 0.1,
        "log": {"level": "warn"},
        "storage": {
            "filesystem": {"rootdirectory": str(cluster.paths.state / "registry")},
            "delete": {"enabled": True},
        },
        "http": {"addr": cluster.registry},
    }
