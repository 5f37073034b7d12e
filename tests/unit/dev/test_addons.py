"""Objects of the cluster itself."""

from __future__ import annotations

from skerry_devcluster.addons import addons
from skerry_devcluster.cluster import Cluster


def test_every_path_names_its_object(full: Cluster) -> None:
    for path, document in addons(full):
        assert path.rpartition("/")[2] == document["metadata"]["name"]
        assert f"/{document['apiVersion']}/" in path
        namespace = document["metadata"].get("namespace")
        assert (f"/namespaces/{namespace}/" in path) is (namespace is not None)


def test_dns_is_where_the_kubelet_points(full: Cluster) -> None:
    services = [document for _, document in addons(full) if document["kind"] == "Service"]
    assert [service["spec"]["clusterIP"] for service in services] == ["198.19.32.10"]


def test_its_image_is_never_pulled(full: Cluster) -> None:
    (deployment,) = (document for _, document in addons(full) if document["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert (container["imagePullPolicy"], container["image"]) == ("Never", full.image("coredns"))
