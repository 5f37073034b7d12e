"""What scripts read."""

from __future__ import annotations

import shlex

from skerry_devcluster.cluster import Cluster
from skerry_devcluster.facts import exports, facts_of, to_json


def test_the_names_of_a_full_cluster(full: Cluster) -> None:
    facts = to_json(facts_of(full))
    wanted = {
        "apiServerAddress": "https://198.18.255.10:6443",
        "nodeAddress": "198.18.255.10",
        "hostAddress": "198.18.255.9",
        "podCIDR": "198.18.2.0/24",
        "serviceCIDR": "198.19.32.0/20",
        "registryPush": "198.18.255.10:5000",
        "registryPull": "localhost:5000",
        "kubeconfig": "/state/skerry/clusters/demo/kubeconfig",
        "mode": "Full",
        "runtimeClass": "sandboxed",
    }
    assert {name: facts[name] for name in wanted} == wanted
    assert {"kubectl", "helm", "ctr"} <= set(facts)


def test_a_control_plane_has_nothing_of_a_node(control_plane: Cluster) -> None:
    facts = to_json(facts_of(control_plane))
    assert not {"ctr", "registryPush", "registryPull", "containerdSocket"} & set(facts)
    assert None not in facts.values()


def test_exports_are_for_a_shell(full: Cluster) -> None:
    lines = [shlex.split(line) for line in exports(facts_of(full)).splitlines()]
    assert {words[0] for words in lines} == {"export"}
    values = dict(words[1].split("=", 1) for words in lines)
    assert values["KUBECONFIG"] == "/state/skerry/clusters/demo/kubeconfig"
    assert values["SKERRY_REGISTRY"] == "198.18.255.10:5000"
