"""Addresses of instances."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from itertools import combinations

import pytest

from skerry_devcluster.errors import SlotError
from skerry_devcluster.slots import SLOTS, SUPERNET, Slot, allocate


def test_addresses_of_a_slot() -> None:
    slot = Slot(3)
    assert slot.pods == IPv4Network("198.18.3.0/24")
    assert slot.services == IPv4Network("198.19.48.0/20")
    assert slot.link == IPv4Network("198.18.255.12/30")
    assert (slot.host_address, slot.node_address) == (
        IPv4Address("198.18.255.13"),
        IPv4Address("198.18.255.14"),
    )
    assert (slot.api_service, slot.dns_service) == (IPv4Address("198.19.48.1"), IPv4Address("198.19.48.10"))
    assert slot.host_interface == "skerry3"


def test_no_two_slots_share_an_address_and_all_stay_in_the_reserved_range() -> None:
    networks = [network for index in range(SLOTS) for network in Slot(index).networks]
    assert all(network.subnet_of(SUPERNET) for network in networks)
    assert not [pair for pair in combinations(networks, 2) if pair[0].overlaps(pair[1])]


@pytest.mark.parametrize("index", [-1, SLOTS])
def test_slots_beyond_the_range_are_refused(index: int) -> None:
    with pytest.raises(SlotError, match=f"slot {index}"):
        Slot(index)


@pytest.mark.parametrize(
    ("preferred", "taken", "routed", "expected"),
    [
        (None, {}, [], 0),
        (None, {0: "a", 1: "b"}, [], 2),
        (None, {1: "b"}, [], 0),
        (5, {0: "a"}, [], 5),
        (None, {}, ["0.0.0.0/0"], 0),  # a default route reaches everything and claims nothing
        (None, {}, ["198.18.0.0/24"], 1),
        (None, {}, ["198.19.0.0/19"], 2),
        (None, {}, ["198.18.255.0/30", "10.0.0.0/8"], 1),
    ],
)
def test_allocation(preferred: int | None, taken: dict[int, str], routed: list[str], expected: int) -> None:
    assert allocate(preferred, taken, [IPv4Network(text) for text in routed]) == Slot(expected)


@pytest.mark.parametrize(
    ("preferred", "taken", "routed", "message"),
    [
        (2, {2: "'demo' (up)"}, [], r"slot 2, .*'demo' \(up\)"),
        (0, {}, ["198.18.0.0/16"], "route to 198.18.0.0/16"),
        (None, dict.fromkeys(range(SLOTS), "'x' (up)"), [], "all 16 slots are taken"),
        (None, {}, ["198.18.0.0/15"], "all 16 slots are taken"),
    ],
)
def test_refused_allocation(
    preferred: int | None, taken: dict[int, str], routed: list[str], message: str
) -> None:
    with pytest.raises(SlotError, match=message):
        allocate(preferred, taken, [IPv4Network(text) for text in routed])
