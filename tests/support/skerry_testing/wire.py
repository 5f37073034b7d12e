"""What comes out of an interface of this machine: the destinations of its packets."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv6Address, ip_address

__all__ = ["Wire", "tapped"]

_ALL = 0x0003  # ETH_P_ALL
_OUTGOING = 4  # PACKET_OUTGOING: what this machine itself sends there
_SOL_PACKET, _STATISTICS = 263, 6
_RCVBUFFORCE = 33
_BUFFER = 64 * 1024 * 1024
_DESTINATION = {4: slice(16, 20), 6: slice(24, 40)}
Address = IPv4Address | IPv6Address


class Wire:
    """Listens at an interface, behind no filter."""

    def __init__(self, tap: socket.socket) -> None:
        self._tap = tap

    def destinations(self) -> set[Address]:
        """Where the packets wanted to go that came in since the last call; ARP and the like have none.

        Raises AssertionError when it could not hear them all.
        """
        found: set[Address] = set()
        while True:
            try:
                packet, (_, _, kind, *_) = self._tap.recvfrom(64)
            except BlockingIOError:
                lost = struct.unpack("II", self._tap.getsockopt(_SOL_PACKET, _STATISTICS, 8))[1]
                assert lost == 0, f"{lost} packets came too fast"
                return found
            where = _DESTINATION.get(packet[0] >> 4)
            if kind != _OUTGOING and where is not None and len(packet) >= where.stop:
                found.add(ip_address(packet[where]))


@contextmanager
def tapped(interface: str) -> Iterator[Wire]:
    """Hear what comes in on an interface from now on. Needs root."""
    # Of no protocol until it is bound, else it would hear other interfaces for a moment.
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0) as tap:
        tap.setsockopt(socket.SOL_SOCKET, _RCVBUFFORCE, _BUFFER)
        tap.bind((interface, _ALL))
        tap.setblocking(False)
        yield Wire(tap)
