"""Addresses of an instance, all from 198.18.0.0/15 (RFC 2544, never routed).

A slot is a number below 16; everything else follows from it. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from skerry_devcluster.errors import SlotError

__all__ = ["SLOTS", "SUPERNET", "Slot", "allocate"]

SUPERNET = IPv4Network("198.18.0.0/15")
SLOTS = 16  # 16 Service ranges of /20 fill 198.19.0.0/16
_PODS = int(IPv4Address("198.18.0.0"))
_SERVICES = int(IPv4Address("198.19.0.0"))
_LINKS = int(IPv4Address("198.18.255.0"))


@dataclass(frozen=True, order=True)
class Slot:
    """One instance's share of the address space."""

    index: int

    def __post_init__(self) -> None:
        if not 0 <= self.index < SLOTS:
            raise SlotError(f"slot {self.index}: must be from 0 to {SLOTS - 1}")

    @property
    def pods(self) -> IPv4Network:
        return IPv4Network((_PODS + 256 * self.index, 24))

    @property
    def services(self) -> IPv4Network:
        return IPv4Network((_SERVICES + 4096 * self.index, 20))

    @property
    def link(self) -> IPv4Network:
        return IPv4Network((_LINKS + 4 * self.index, 30))

    @property
    def host_address(self) -> IPv4Address:
        """The machine's end of the link."""
        return self.link[1]

    @property
    def node_address(self) -> IPv4Address:
        return self.link[2]

    @property
    def api_service(self) -> IPv4Address:
        return self.services[1]

    @property
    def dns_service(self) -> IPv4Address:
        return self.services[10]

    @property
    def host_interface(self) -> str:
        return f"skerry{self.index}"

    @property
    def networks(self) -> tuple[IPv4Network, ...]:
        return (self.pods, self.services, self.link)


def allocate(preferred: int | None, taken: Mapping[int, str], routed: Collection[IPv4Network] = ()) -> Slot:
    """The slot for an instance.

    Args:
        preferred: the slot its kept state was made for, which it cannot leave.
        taken: slots of other instances, with a word on who has each.
        routed: networks the machine already reaches otherwise.

    Raises:
        SlotError: every slot is taken, or the preferred one is.
    """
    foreign = [network for network in routed if network.prefixlen > 0]

    def obstacle(slot: Slot) -> str | None:
        if slot.index in taken:
            return taken[slot.index]
        for network in foreign:
            if any(network.overlaps(own) for own in slot.networks):
                return f"this machine's route to {network}"
        return None

    if preferred is not None:
        slot = Slot(preferred)
        if reason := obstacle(slot):
            raise SlotError(
                f"slot {preferred}, which this instance's state is bound to, is taken by {reason}"
            )
        return slot
    reasons = {}
    for index in range(SLOTS):
        slot = Slot(index)
        if not (reason := obstacle(slot)):
            return slot
        reasons[index] = reason
    listing = ", ".join(f"{index}: {reason}" for index, reason in reasons.items())
    raise SlotError(f"all {SLOTS} slots are taken ({listing}); free one with `down --wipe --name NAME`")
