"""The instance's network namespace and the one link into it.

No default route in it: nothing can leave the machine. The machine itself
gets an interface and two routes; its firewall and forwarding stay as they are.
"""

from __future__ import annotations

import json

from skerry_devcluster.commands import run
from skerry_devcluster.errors import CommandError
from skerry_devcluster.host import routes
from skerry_devcluster.layout import InstancePaths
from skerry_devcluster.ledger import Kind, Ledger, Resource
from skerry_devcluster.namespaces import pin_network_namespace, within
from skerry_devcluster.slots import SUPERNET, Slot

__all__ = ["NODE_INTERFACE", "remove_link", "remove_route", "set_up_network"]

NODE_INTERFACE = "node0"


def set_up_network(paths: InstancePaths, slot: Slot, ledger: Ledger) -> None:
    """Make what is missing; what is there stays as it is."""
    pin_network_namespace(paths, ledger)
    host = slot.host_interface
    if not _exists(host):
        ledger.make(Resource(Kind.LINK, host))
        run(
            [
                "ip",
                "link",
                "add",
                host,
                "type",
                "veth",
                "peer",
                "name",
                NODE_INTERFACE,
                "netns",
                str(paths.netns),
            ]
        )
    run(["ip", "addr", "replace", f"{slot.host_address}/{slot.link.prefixlen}", "dev", host])
    run(["ip", "link", "set", host, "up"])
    batch = [
        "link set lo up",
        f"addr replace {slot.node_address}/{slot.link.prefixlen} dev {NODE_INTERFACE}",
        f"link set {NODE_INTERFACE} up",
        f"route replace blackhole {SUPERNET}",
        # the node itself reaches Services only if a route exists before kube-proxy picks the real target
        f"route replace {slot.services} dev {NODE_INTERFACE} src {slot.node_address}",
    ]
    run([*within(paths, mounts=False), "ip", "-batch", "-"], text_in="\n".join(batch) + "\n")
    run([*within(paths, mounts=False), "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward"])
    present = set(routes())
    for network in (slot.pods, slot.services):
        if (network, host) not in present:
            ledger.make(Resource(Kind.ROUTE, str(network), via=host))
            run(["ip", "route", "replace", str(network), "via", str(slot.node_address), "dev", host])


def _exists(interface: str) -> bool:
    return any(link["ifname"] == interface for link in json.loads(run(["ip", "-j", "link", "show"])))


def remove_link(interface: str) -> None:
    if _exists(interface):
        try:
            run(["ip", "link", "del", interface])
        except CommandError:
            # it may have gone with its namespace in this moment
            if _exists(interface):
                raise


def remove_route(destination: str, interface: str) -> None:
    if any(str(network) == destination and device == interface for network, device in routes()):
        run(["ip", "route", "del", destination, "dev", interface])
