"""Processes and their command lines."""

from __future__ import annotations

from dataclasses import replace

from skerry_devcluster.cluster import Cluster
from skerry_devcluster.components import STOP_ORDER, components, fingerprint
from skerry_devcluster.render import render


def test_the_modes(full: Cluster, control_plane: Cluster) -> None:
    assert list(components(control_plane)) == ["etcd", "kube-apiserver"]
    assert sorted(components(full)) == [
        "containerd",
        "docker-registry",
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-network-policies",
        "kube-proxy",
        "kube-scheduler",
        "kubelet",
        "local-provisioner",
    ]


def test_each_is_stopped_exactly_once_and_the_store_last(full: Cluster) -> None:
    stopped = [name for stage in STOP_ORDER for name in stage]
    assert sorted(stopped) == sorted(components(full))
    assert STOP_ORDER[-1] == ("etcd",)
    assert "kubelet" in STOP_ORDER[0]


def test_what_mounts_runs_in_the_mount_namespace(full: Cluster) -> None:
    inside = {name for name, component in components(full).items() if component.node}
    assert {"containerd", "kubelet"} <= inside
    assert not inside & {"etcd", "kube-apiserver"}


def test_every_file_a_component_reads_is_rendered(full: Cluster) -> None:
    texts = render(full)
    for component in components(full).values():
        assert set(component.files) <= set(texts), component.name


def test_a_fingerprint_changes_with_program_arguments_and_files(full: Cluster) -> None:
    texts = render(full)
    kubelet = components(full)["kubelet"]
    prints = [
        fingerprint(kubelet, texts),
        fingerprint(replace(kubelet, argv=(*kubelet.argv, "--v=2")), texts),
        fingerprint(kubelet, {**texts, "kubelet.yaml": "{}"}),
        fingerprint(replace(kubelet, files=("kubelet.yaml",)), texts),
        fingerprint(replace(kubelet, node=False), texts),
    ]
    assert len(set(prints)) == len(prints)
    assert fingerprint(kubelet, {**texts, "registry.yml": "{}"}) == prints[0]


def test_two_instances_share_no_address_path_or_name(full: Cluster, neighbour: Cluster) -> None:
    own = ("demo", "198.18.2.", "198.19.32.", "198.18.255.10")
    for component in components(neighbour).values():
        assert not [word for word in own if word in " ".join(component.argv)], component.name
