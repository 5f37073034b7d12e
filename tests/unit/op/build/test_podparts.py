"""Resources and endpoints."""

from __future__ import annotations

import pytest

from skerry_api.common import Resources
from skerry_operator.build.podparts import quantity, resources
from skerry_operator.build.sandbox_pod import build_sandbox_pod, endpoint
from skerry_testing.plans import SETTINGS, a_class, a_sandbox

DEFAULT = Resources(requests={"cpu": "100m", "memory": "128Mi"}, limits={"cpu": "1", "memory": "1Gi"})


@pytest.mark.parametrize(
    ("given", "requests", "limits"),
    [
        (None, {"cpu": "100m", "memory": "128Mi"}, {"cpu": "1", "memory": "1Gi"}),
        (
            Resources(limits={"memory": "64Mi"}),
            {"cpu": "100m", "memory": "64Mi"},
            {"cpu": "1", "memory": "64Mi"},
        ),
        (Resources(requests={"cpu": "4"}), {"cpu": "4", "memory": "128Mi"}, {"cpu": "4", "memory": "1Gi"}),
        (
            Resources(limits={"gpu": "1"}),
            {"cpu": "100m", "memory": "128Mi"},
            {"cpu": "1", "memory": "1Gi", "gpu": "1"},
        ),
    ],
)
def test_what_is_not_given_is_the_defaults_fitted_to_what_is(
    given: Resources | None, requests: dict[str, str], limits: dict[str, str]
) -> None:
    made = resources(given, DEFAULT)
    assert (made.requests, made.limits) == (requests, limits)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("100m", 0.1),
        ("1.5", 1.5),
        ("1k", 1000),
        ("1Ki", 1024),
        ("2Gi", 2 * 2**30),
        ("1E", 1e18),
        ("1Ei", 2.0**60),
    ],
)
def test_quantities(text: str, value: float) -> None:
    assert quantity(text) == pytest.approx(value)


def test_endpoint_of_either_family() -> None:
    assert endpoint("10.0.0.1") == "http://10.0.0.1:8090"
    assert endpoint("fd00::1") == "http://[fd00::1]:8090"


@pytest.mark.parametrize(
    ("egress", "policy", "servers"),
    [
        ("None", "None", ["127.0.0.1"]),
        ("Internet", "None", ["1.1.1.1", "8.8.8.8"]),
        ("DNS", "ClusterFirst", None),
    ],
)
def test_who_resolves_names(egress: str, policy: str, servers: list[str] | None) -> None:
    spec = build_sandbox_pod(a_sandbox(), a_class(network={"egress": egress}), SETTINGS)["spec"]
    assert spec["dnsPolicy"] == policy
    assert spec.get("dnsConfig", {}).get("nameservers") == servers
