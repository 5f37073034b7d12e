"""Configuration files."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from skerry_devcluster.cluster import Cluster
from skerry_devcluster.render import render


def kubelet(cluster: Cluster) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(render(cluster)["kubelet.yaml"])
    return document


def test_a_control_plane_reads_no_files(control_plane: Cluster) -> None:
    assert render(control_plane) == {}


def test_every_file_is_well_formed(full: Cluster) -> None:
    texts = render(full)
    for name, text in texts.items():
        if name.endswith((".toml", ".conf")) and name != "resolv.conf":
            assert tomllib.loads(text), name
        elif name != "resolv.conf":
            assert json.loads(text), name
    assert texts["resolv.conf"] == "nameserver 198.19.32.10\n"


def test_containerd(full: Cluster) -> None:
    config = tomllib.loads(render(full)["containerd.toml"])
    plugins = config["plugins"]
    runtime = plugins["io.containerd.cri.v1.runtime"]
    assert config["grpc"]["address"] == "/run/skerry/demo/containerd.sock"
    assert runtime["netns_mounts_under_state_dir"] is True
    assert runtime["disable_hugetlb_controller"] is True
    assert sorted(runtime["containerd"]["runtimes"]) == ["runc", "sandboxed"]
    assert plugins["io.containerd.nri.v1.nri"]["disable"] is False
    images = plugins["io.containerd.cri.v1.images"]
    assert images["pinned_images"]["sandbox"] == "localhost:5000/skerry-dev/pause:0123456789abcdef"


def test_kubelet_on_cgroup_v1(full: Cluster) -> None:
    config = kubelet(full)
    assert config["failCgroupV1"] is False
    assert config["cgroupRoot"] == "/skerry-demo"
    assert config["clusterDNS"] == ["198.19.32.10"]


def test_what_only_cgroup_v1_needs_is_left_out_elsewhere(unified: Cluster) -> None:
    assert "failCgroupV1" not in kubelet(unified)
    assert "hugetlb" not in render(unified)["containerd.toml"]


def test_in_cluster_references_are_pulled_from_the_nodes_registry(full: Cluster) -> None:
    texts = render(full)
    # containerd looks for host_port_, with an underscore at the end
    hosts = tomllib.loads(texts["certs.d/localhost_5000_/hosts.toml"])
    assert hosts["server"] == "http://198.18.255.10:5000"
    assert json.loads(texts["registry.yml"])["http"]["addr"] == "198.18.255.10:5000"


def test_two_instances_share_no_address_path_or_name(full: Cluster, neighbour: Cluster) -> None:
    own = {"demo", "198.18.2.", "198.19.32.", "198.18.255.10"}
    for name, text in render(neighbour).items():
        assert not [word for word in own if word in text], name
