"""What sandboxes may reach, decided by addresses and not by the shape of a rule."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from skerry_operator.build.faults import InvalidSpecError
from skerry_operator.build.policies import build_class_policy, build_profile_policy, policy_hash
from skerry_operator.build.public import public_blocks
from skerry_operator.settings import PlanSettings
from skerry_testing.plans import SETTINGS, a_class, a_profile

Json = dict[str, Any]


def reaches(policy: Json, address: str, port: int = 443) -> bool:
    """Whether a policy's ipBlocks let this address through."""
    host = ip_address(address)
    for rule in policy["spec"].get("egress", []):
        ports = [each["port"] for each in rule.get("ports", [])]
        for peer in rule["to"]:
            block = peer.get("ipBlock")
            if block is None or (ports and port not in ports):
                continue
            excluded = [ip_network(each) for each in block.get("except", [])]
            if host in ip_network(block["cidr"]) and not any(host in net for net in excluded):
                return True
    return False


INTERNET = build_class_policy(a_class(network={"egress": "Internet"}), SETTINGS)
NONE = build_class_policy(a_class(), SETTINGS)

PRIVATE = [
    "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "127.0.0.1", "169.254.169.254", "198.18.0.1",
    "198.19.255.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "192.0.2.1", "203.0.113.9", "240.0.0.1",
    "::1", "fe80::1", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::1", "2001::1", "2001:db8::1", "ff02::1", "5f00::1",
]  # fmt: skip


@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "93.184.215.14", "172.32.0.1", "100.128.0.1", "198.20.0.1", "2606:4700::1111", "2a00::1"],
)
def test_public_addresses_are_reached_by_internet_alone(address: str) -> None:
    assert reaches(INTERNET, address)
    assert not reaches(NONE, address)


@pytest.mark.parametrize("address", PRIVATE)
def test_special_purposes_are_not(address: str) -> None:
    assert not reaches(INTERNET, address)


def test_the_clusters_own_public_ranges_are_not() -> None:
    settings = PlanSettings("r", "s", cluster_cidrs=("34.118.0.0/17", "2600:1900::/28"))
    policy = build_class_policy(a_class(network={"egress": "Internet"}), settings)
    assert not reaches(policy, "34.118.1.1")
    assert not reaches(policy, "2600:1900::1")
    assert reaches(policy, "34.118.128.1")


def test_resolvers_that_are_not_public_are_reached_for_names_only() -> None:
    settings = PlanSettings("r", "s", public_resolvers=("10.1.1.53",))
    policy = build_class_policy(a_class(network={"egress": "Internet"}), settings)
    assert reaches(policy, "10.1.1.53", 53)
    assert not reaches(policy, "10.1.1.53", 443)


@pytest.mark.parametrize("whole", [("0.0.0.0/0", "::/0"), ("0.0.0.0/1", "128.0.0.0/1", "2000::/3")])
def test_a_cluster_that_is_everything_leaves_nothing(whole: tuple[str, ...]) -> None:
    assert public_blocks(whole) == []
    policy = build_class_policy(
        a_class(network={"egress": "Internet"}), PlanSettings("r", "s", cluster_cidrs=whole)
    )
    # No rule without peers: it would allow all.
    assert all(rule["to"] for rule in policy["spec"]["egress"])
    assert not reaches(policy, "93.184.215.14")


def test_except_lies_strictly_within_its_block() -> None:
    for base, excluded in public_blocks(("10.0.0.0/8", "0.0.0.0/7")):
        nets = [ip_network(each) for each in excluded]
        assert all(net.prefixlen > ip_network(base).prefixlen for net in nets)
        assert not any(a.overlaps(b) for a in nets for b in nets if a is not b)


def test_dns_reaches_the_clusters_resolver_and_no_address() -> None:
    policy = build_class_policy(a_class(network={"egress": "DNS"}), SETTINGS)
    [rule] = policy["spec"]["egress"]
    assert {(each["protocol"], each["port"]) for each in rule["ports"]} == {("UDP", 53), ("TCP", 53)}
    assert not reaches(policy, "10.0.0.10", 53)


def test_allow_is_added_and_host_bits_are_dropped() -> None:
    policy = build_class_policy(a_class(network={"allow": ["10.1.2.3/16"]}), SETTINGS)
    assert reaches(policy, "10.1.200.1", 5432)
    assert not reaches(policy, "10.2.0.1")


@pytest.mark.parametrize("cidr", ["999.1.1.1/8", "10.0.0.0/33", ":::/8"])
def test_a_cidr_that_is_none_is_named_with_its_field(cidr: str) -> None:
    with pytest.raises(InvalidSpecError) as caught:
        build_class_policy(a_class(network={"allow": ["10.0.0.0/8", cidr]}), SETTINGS)
    assert caught.value.path == "SandboxClass default: spec.network.allow[1]"
    with pytest.raises(InvalidSpecError) as caught:
        build_profile_policy(a_profile(runner={"network": {"allow": [cidr]}}))
    assert caught.value.path == "AgentProfile coder: spec.runner.network.allow[0]"


def test_the_hash_is_the_contents() -> None:
    assert policy_hash(NONE) == policy_hash(build_class_policy(a_class(), SETTINGS))
    assert policy_hash(NONE) != policy_hash(INTERNET)
