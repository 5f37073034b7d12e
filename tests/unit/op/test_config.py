"""The configuration file: what is taken, and how it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from skerry_operator.config import Config, load_config
from skerry_operator.errors import ConfigError

LEAST = "operatorNamespace: skerry-system\nrunnerImage: r:1\nsandboxImage: s:1\n"
WHOLE = (
    LEAST
    + """
imagePullPolicy: Always
runNamespaces: [agents, more]
maxRunsPerNamespace: 7
clusterCIDRs: [10.0.0.0/8, "fd00::/8"]
publicResolvers: [9.9.9.9]
apiServerCIDRs: [10.96.0.1/32]
clusterDNS: {namespace: dns, podLabels: {app: coredns}, ports: [53, 5353]}
workers: 4
resyncSeconds: 30
requestTimeoutSeconds: 2
logLevel: DEBUG
metricsPort: 0
probesPort: 0
lease: {name: l, durationSeconds: 6, renewSeconds: 4, retrySeconds: 0.5}
cancelGraceSeconds: 3
maxReplacements: 1
keysDirectory: /keys
"""
)


def load(text: str, tmp_path: Path) -> Config:
    path = tmp_path / "config.yaml"
    path.write_text(text, encoding="utf-8")
    return load_config(path)


def test_the_least_has_defaults(tmp_path: Path) -> None:
    config = load(LEAST, tmp_path)
    assert (config.max_runs_per_namespace, config.metrics_port, config.probes_port) == (50, 9090, 8080)
    lease = config.lease
    assert (lease.duration_seconds, lease.renew_seconds, lease.interval_seconds, lease.retry_seconds) == (
        9,
        6,
        2,
        1,
    )
    assert config.run_namespaces == ()


def test_the_planners_part_is_complete(tmp_path: Path) -> None:
    settings = load(WHOLE, tmp_path).plan_settings("jwks")
    assert settings.image_pull_policy == "Always"
    assert settings.max_runs_per_namespace == 7
    assert settings.cluster_cidrs == ("10.0.0.0/8", "fd00::/8")
    assert settings.public_resolvers == ("9.9.9.9",)
    assert settings.cluster_dns.pod_labels == (("app", "coredns"),)
    assert settings.cluster_dns.ports == (53, 5353)
    assert settings.cancel_grace.total_seconds() == 3
    assert (settings.max_replacements, settings.operator_keys) == (1, "jwks")


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        ("", "", "must be a mapping"),
        ("[1]", "", "must be a mapping"),
        ("a: [", "", "not YAML"),
        (LEAST + "runNamspaces: [a]", "runNamspaces", "Extra inputs"),
        (LEAST + "workers: 0", "workers", "greater than or equal to 1"),
        (LEAST + "workers: many", "workers", "valid integer"),
        (LEAST + "runNamespaces: [ok, Not_Ok]", "runNamespaces[1]", "match pattern"),
        (LEAST + "clusterCIDRs: [10.0.0.1/8]", "clusterCIDRs[0]", "host bits set"),
        (LEAST + "publicResolvers: [one]", "publicResolvers[0]", "address"),
        (LEAST + "lease: {renewSeconds: 20}", "lease", "renewSeconds < durationSeconds"),
        (LEAST + "lease: {holder: me}", "lease.holder", "Extra inputs"),
        (LEAST + "lease: {intervalSeconds: 7}", "lease", "intervalSeconds, retrySeconds < renewSeconds"),
        (LEAST + "requestTimeoutSeconds: 0", "requestTimeoutSeconds", "greater than 0"),
        ("runnerImage: r\nsandboxImage: s", "operatorNamespace", "Field required"),
        (LEAST + "logLevel: LOUD\nworkers: 0", "workers", "(and 1 more)"),
    ],
)
def test_a_bad_file_is_refused_with_the_fields_path(text: str, path: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(text, tmp_path)
    assert caught.value.path == path
    assert words in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot be read"):
        load_config(tmp_path / "none.yaml")
