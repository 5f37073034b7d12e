"""Asking a cluster's DNS for one name: `python -m skerry_devcluster.dns SERVER`, exit 0 if it answers.

A program of its own so that it can run inside the node's network namespace,
where what root sends is not subject to the cluster's NetworkPolicies.
"""

from __future__ import annotations

import socket
import struct
import sys

__all__ = ["NAME", "address_in", "ask", "query"]

NAME = "kubernetes.default.svc.cluster.local"
_ID = 0x5B5B


def query(name: str, query_id: int = _ID) -> bytes:
    """A question for the A record (RFC 1035)."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack(">6H", query_id, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", 1, 1)


def address_in(answer: bytes, query_id: int = _ID) -> str | None:
    """The address at the end of an answer without error and with a single A record; else None."""
    if len(answer) < 16:
        return None
    its_id, flags, _, answers, authorities, additional = struct.unpack(">6H", answer[:12])
    if (
        its_id != query_id
        or not flags & 0x8000
        or flags & 0x000F
        or (answers, authorities, additional) != (1, 0, 0)
    ):
        return None
    return socket.inet_ntoa(answer[-4:])


def ask(server: str, name: str = NAME, *, seconds: float = 1.0) -> str | None:
    """The address of a name, None if nobody answers in time."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(seconds)
        try:
            client.connect((server, 53))
            client.send(query(name))
            return address_in(client.recv(512))
        except OSError:
            return None


if __name__ == "__main__":
    sys.exit(0 if ask(sys.argv[1]) else 1)
