"""What the chart renders to, without a cluster: the operator can read its configuration, policies say what is meant."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from skerry_api.keys import SigningKey
from skerry_api.labels import Component, Label
from skerry_api.sandboxd_api import DEFAULT_PORT
from skerry_operator.config import Config, load_config
from skerry_testing.helm import CHART, CRDS_CHART, Helm, HelmError, Rendered

Json = dict[str, Any]


def _config(rendered: Rendered, folder: Path) -> Config:
    text = rendered.one("ConfigMap", "skerry-operator")["data"]["config.yaml"]
    path = folder / "config.yaml"
    path.write_text(text, encoding="utf-8")
    return load_config(path)


@pytest.mark.parametrize("chart", [CHART, CRDS_CHART], ids=lambda path: path.name)
def test_lint_is_content(helm: Helm, chart: Path) -> None:
    helm.run("lint", "--strict", chart)


def test_the_operator_takes_the_configuration(helm: Helm, tmp_path: Path) -> None:
    values = {
        "images": {"registry": "registry.example:5000/agents/", "runner": {"tag": "r1"}, "sandbox": {"digest": f"sha256:{'0' * 64}"}},
        "runNamespaces": [{"name": "a", "create": True}, {"name": "b"}],
        "clusterCIDRs": ["10.0.0.0/8"],
        "operator": {"workers": 3, "lease": {"retrySeconds": 1.5}},
        "clusterDNS": {"podLabels": {"k8s-app": None, "dns": "yes"}},
    }  # fmt: skip
    config = _config(helm.template(values), tmp_path)
    assert config.runner_image == "registry.example:5000/agents/skerry-runner:r1"
    assert config.sandbox_image == f"registry.example:5000/agents/skerry-sandbox@sha256:{'0' * 64}"
    assert (config.operator_namespace, config.run_namespaces) == ("skerry-system", ("a", "b"))
    assert (config.cluster_cidrs, config.api_server_cidrs) == (("10.0.0.0/8",), ("192.0.2.1/32",))
    assert (config.workers, config.lease.retry_seconds, config.lease.duration_seconds) == (3, 1.5, 9)
    assert config.cluster_dns.pod_labels == {"dns": "yes"}


def test_the_defaults_are_the_operators_own(helm: Helm, tmp_path: Path) -> None:
    config = _config(helm.template(), tmp_path)
    own = Config(operatorNamespace="skerry-system", runnerImage="x", sandboxImage="x")  # type: ignore[call-arg]
    told = {"operator_namespace", "runner_image", "sandbox_image", "run_namespaces", "api_server_cidrs"}
    assert config.model_dump(exclude=told) == own.model_dump(exclude=told)


def test_a_changed_setting_rolls_the_operator(helm: Helm) -> None:
    def checksum(values: Json) -> str:
        template = helm.template(values).one("Deployment", "skerry-operator")["spec"]["template"]
        return str(template["metadata"]["annotations"]["checksum/config"])

    assert checksum({}) == checksum({})
    assert checksum({}) != checksum({"operator": {"workers": 7}})


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"surprise": 1}, "additional properties 'surprise' not allowed"),
        ({"operator": {"replica": 2}}, "additional properties 'replica' not allowed"),
        ({"runNamespaces": [{"name": "Not_a_name"}]}, "/runNamespaces/0/name"),
        ({"runNamespaces": [{"name": "a"}, {"name": "a"}]}, "a name stands there twice"),
        ({"clusterCIDRs": ["10.0.0.1"]}, "/clusterCIDRs/0"),
        ({"apiServer": {"cidrs": []}}, "apiServer.cidrs"),
        ({"clusterDNS": {"podLabels": {"k8s-app": None}}}, "/clusterDNS/podLabels"),
        ({"images": {"runner": {"digest": "sha256:12"}}}, "/images/runner/digest"),
        ({"serviceAccount": {"create": False}}, "serviceAccount.name is required"),
    ],
)
def test_bad_values_are_refused_by_name(helm: Helm, values: Json, said: str) -> None:
    with pytest.raises(HelmError) as caught:
        helm.template(values)
    assert said in str(caught.value)


def test_the_key_is_one_that_the_operator_reads(helm: Helm) -> None:
    secret = helm.template().one("Secret", "skerry-signing-key")
    key = SigningKey.from_pem(base64.b64decode(secret["data"]["current.pem"]))
    assert key.public.thumbprint
    assert secret["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"


def test_a_given_secret_is_used_and_none_made(helm: Helm) -> None:
    rendered = helm.template({"signingKey": {"existingSecret": "mine"}})
    assert rendered.of_kind("Secret") == []
    volumes = rendered.one("Deployment", "skerry-operator")["spec"]["template"]["spec"]["volumes"]
    assert [each["secret"]["secretName"] for each in volumes if "secret" in each] == ["mine"]


def test_every_prepared_namespace_gets_the_same(helm: Helm) -> None:
    rendered = helm.template({"runNamespaces": [{"name": "a", "create": True}, {"name": "b"}]})

    def inside(namespace: str) -> list[tuple[str, str]]:
        return sorted(
            (each["kind"], each["metadata"]["name"])
            for each in rendered.objects
            if each["metadata"].get("namespace") == namespace
        )

    assert inside("a") == inside("b")
    assert ("SandboxClass", "default") in inside("a")
    assert ("AgentProfile", "scripted") in inside("a")
    assert [each["metadata"]["name"] for each in rendered.of_kind("Namespace")] == ["a"]
    labels = rendered.one("Namespace", "a")["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


def test_policies_deny_all_and_let_in_what_is_named(helm: Helm) -> None:
    rendered = helm.template({"clusterCIDRs": ["203.0.113.0/24", "8.8.0.0/16", "fd00::/8", "2600::/16"]})
    deny = rendered.one("NetworkPolicy", "skerry-default-deny")["spec"]
    (expression,) = deny["podSelector"]["matchExpressions"]
    assert set(expression["values"]) == {Component.RUNNER, Component.SANDBOX}
    assert expression["key"] == Label.COMPONENT
    assert deny["policyTypes"] == ["Ingress", "Egress"]
    assert not {"ingress", "egress"} & set(deny)

    door = rendered.one("NetworkPolicy", "skerry-sandbox-ingress")["spec"]
    (rule,) = door["ingress"]
    assert [port["port"] for port in rule["ports"]] == [DEFAULT_PORT]
    runner, operator = rule["from"]
    assert runner == {"podSelector": {"matchLabels": {Label.COMPONENT: Component.RUNNER}}}
    pod = rendered.one("Deployment", "skerry-operator")["spec"]["template"]["metadata"]["labels"]
    assert operator["podSelector"]["matchLabels"].items() <= pod.items()
    assert operator["namespaceSelector"]["matchLabels"] == {"kubernetes.io/metadata.name": "skerry-system"}

    egress = rendered.one("NetworkPolicy", "skerry-runner-egress")["spec"]["egress"]
    public = egress[-1]
    assert public["ports"] == [{"protocol": "TCP", "port": 443}]
    without = {each["ipBlock"]["cidr"]: each["ipBlock"]["except"] for each in public["to"]}
    assert "8.8.0.0/16" in without["0.0.0.0/0"]
    assert "2600::/16" in without["2000::/3"]
    assert "fd00::/8" not in without["2000::/3"]
    assert len(without["0.0.0.0/0"]) == len(set(without["0.0.0.0/0"]))


def test_golden(helm: Helm) -> None:
    """The whole rendering, but for the key: a change of the chart is a change of this file."""
    rendered = helm.template({"runNamespaces": [{"name": "agents", "create": True}]})
    for secret in rendered.of_kind("Secret"):
        secret["data"] = dict.fromkeys(secret["data"], "…")
    text = yaml.safe_dump_all(rendered.objects, sort_keys=True, width=200, allow_unicode=True)
    golden = Path(__file__).parents[2] / "data" / "chart" / "default.yaml"
    if not golden.exists():
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text, encoding="utf-8")
        pytest.fail(f"{golden} was missing and has been written: look at it and commit it")
    assert text == golden.read_text(encoding="utf-8"), f"delete {golden} to have it made anew"


def test_the_operators_pod_is_restricted(helm: Helm) -> None:
    pod = helm.template().one("Deployment", "skerry-operator")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert json.loads(json.dumps(container["securityContext"])) == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert (pod["securityContext"]["runAsUser"], pod["securityContext"]["runAsNonRoot"]) == (10001, True)
    assert {each["name"] for each in container["env"]} == {
        "SKERRY_CONFIG",
        "POD_NAME",
        "POD_UID",
        "POD_NAMESPACE",
    }
