"""Which addresses are the public Internet, as ipBlocks: everything minus special purposes minus the cluster."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network

__all__ = ["SPECIAL_V4", "SPECIAL_V6", "public_blocks"]

SPECIAL_V4 = (
    "0.0.0.0/8",  # this network
    "10.0.0.0/8",  # private
    "100.64.0.0/10",  # carrier-grade NAT
    "127.0.0.0/8",  # loopback
    "169.254.0.0/16",  # link-local, cloud metadata
    "172.16.0.0/12",  # private
    "192.0.0.0/24",  # IETF protocol assignments
    "192.0.2.0/24",  # documentation
    "192.31.196.0/24",  # AS112
    "192.52.193.0/24",  # AMT
    "192.88.99.0/24",  # 6to4 relays, deprecated
    "192.168.0.0/16",  # private
    "192.175.48.0/24",  # AS112
    "198.18.0.0/15",  # benchmarking
    "198.51.100.0/24",  # documentation
    "203.0.113.0/24",  # documentation
    "224.0.0.0/4",  # multicast
    "240.0.0.0/4",  # reserved, limited broadcast
)
"""IANA's special-purpose registry for IPv4, and multicast."""

GLOBAL_V6 = "2000::/3"
"""All that IANA gives out as global unicast; loopback, NAT64, unique-local and link-local lie outside."""
SPECIAL_V6 = (
    "2001::/23",  # IETF protocol assignments, Teredo among them
    "2001:db8::/32",  # documentation
    "2002::/16",  # 6to4: would reach private IPv4
    "2620:4f:8000::/48",  # AS112
    "3fff::/20",  # documentation
)
"""IANA's special-purpose registry for IPv6, as far as it lies within global unicast."""


def public_blocks(cluster_cidrs: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Pairs (cidr, except) as NetworkPolicy's ipBlock takes them; a family that is all cluster is left out.

    Raises ValueError for a CIDR that is none.
    """
    own = [ip_network(cidr, strict=False) for cidr in cluster_cidrs]
    v4 = [*map(IPv4Network, SPECIAL_V4), *(net for net in own if isinstance(net, IPv4Network))]
    v6 = [*map(IPv6Network, SPECIAL_V6), *(net for net in own if isinstance(net, IPv6Network))]
    blocks = []
    for base, excluded in (
        # collapse: the API server takes an overlap, but enforcers differ in how they like it
        (IPv4Network("0.0.0.0/0"), list(collapse_addresses(v4))),
        (IPv6Network(GLOBAL_V6), list(collapse_addresses(v6))),
    ):
        within = [net for net in excluded if net.version == base.version and _inside(net, base)]
        if not any(_covers(net, base) for net in excluded):
            blocks.append((str(base), [str(net) for net in within]))
    return blocks


def _inside(net: IPv4Network | IPv6Network, base: IPv4Network | IPv6Network) -> bool:
    return net.prefixlen > base.prefixlen and net.network_address in base


def _covers(net: IPv4Network | IPv6Network, base: IPv4Network | IPv6Network) -> bool:
    return net.prefixlen <= base.prefixlen and base.network_address in net
