"""The demo's parts: which cluster, how images get there, what the charts are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from demo.__main__ import main
from demo.install import chart_values
from demo.target import DemoFailed, existing, loader_for, parse_status

ROOT = Path(__file__).resolve().parents[3]
Json = dict[str, Any]
STATUS = {
    "name": "demo", "kubeconfig": "/k", "kubectl": "/bin/kubectl", "helm": "/bin/helm", "registryPush": "198.18.255.2:5000",
    "registryPull": "localhost:5000", "podCIDR": "198.18.0.0/24", "serviceCIDR": "198.19.0.0/20", "hostAddress": "198.18.255.1",
}  # fmt: skip


@pytest.mark.parametrize(
    ("context", "command"),
    [
        ("kind-dev", ("kind", "load", "image-archive", "--name", "dev")),
        ("kind-my-dev", ("kind", "load", "image-archive", "--name", "my-dev")),
        ("k3d-dev", ("k3d", "image", "import", "--cluster", "dev")),
        ("minikube", ("minikube", "image", "load")),
        ("production", None),
        ("kindergarten", None),
    ],
)
def test_local_clusters_load_archives_by_their_own_tool(
    context: str, command: tuple[str, ...] | None
) -> None:
    assert loader_for(context) == command


def test_a_cluster_without_a_way_for_images_is_refused_before_anything_is_done() -> None:
    with pytest.raises(DemoFailed, match="REGISTRY="):
        existing("production", None)


def test_a_missing_tool_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DemoFailed, match="kubectl is not on the PATH"):
        existing("production", "registry.example")


def test_the_embedded_cluster_is_used_by_its_own_kubeconfig_alone() -> None:
    target = parse_status(STATUS)
    assert target.kubectl == ("/bin/kubectl", "--kubeconfig", "/k")
    assert target.helm == ("/bin/helm", "--kubeconfig", "/k")
    assert (target.registry_push, target.registry_pull, target.tls) == (
        "198.18.255.2:5000",
        "localhost:5000",
        False,
    )


def test_the_charts_values_are_ones_that_it_knows() -> None:
    images = {name: {"tag": name[0]} for name in ("operator", "runner", "sandbox")}
    values = chart_values(parse_status(STATUS), images, "runs")
    defaults = yaml.safe_load((ROOT / "charts/skerry/values.yaml").read_text(encoding="utf-8"))
    assert set(values) <= set(defaults)
    assert set(values["images"]) <= set(defaults["images"])
    assert values["images"]["runner"] == {"tag": "r"}
    assert values["runNamespaces"] == [{"name": "runs", "create": True}]
    assert values["clusterCIDRs"] == ["198.18.0.0/24", "198.19.0.0/20"]


@pytest.mark.parametrize(
    ("text", "problem"), [("a: [", "expected"), ("- 1\n", "must be a mapping"), (None, "No such file")]
)
def test_bad_values_are_told_with_the_file_before_anything_is_done(
    tmp_path: Path, text: str | None, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    values = tmp_path / "values.yaml"
    if text is not None:
        values.write_text(text, encoding="utf-8")
    # A context that does not exist: it is not even looked for.
    assert main(["up", "--context", "kind-none", "--values", str(values)]) == 1
    told = capsys.readouterr().err
    assert f"--values {values}: " in told
    assert problem in told
