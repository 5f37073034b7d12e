"""Taking an instance away: what its ledger lists, in the order that nothing is in use any more."""

from __future__ import annotations

from skerry_devcluster.cgroups import end_members, remove_cgroup
from skerry_devcluster.components import STOP_ORDER
from skerry_devcluster.errors import CleanupError
from skerry_devcluster.host import boot_id
from skerry_devcluster.instances import live_claim, release, remove_tree
from skerry_devcluster.layout import InstancePaths, Layout
from skerry_devcluster.ledger import Kind, Ledger
from skerry_devcluster.namespaces import unpin
from skerry_devcluster.network import remove_link, remove_route
from skerry_devcluster.procs import Proc
from skerry_devcluster.progress import Progress
from skerry_devcluster.session import instance_lock, new_id
from skerry_devcluster.signals import end
from skerry_devcluster.supervisor import Supervisor

__all__ = ["down"]


def down(layout: Layout, paths: InstancePaths, progress: Progress, *, wipe: bool) -> bool:
    """Remove everything that `up` made; with `wipe` the instance's data too.

    Returns:
        whether there was anything to remove.

    Raises:
        CleanupError: something would not go; a later call goes on from there.
    """
    with instance_lock(paths, progress):
        boot = boot_id()
        known = paths.run.exists() or (wipe and paths.state.exists())
        claim = live_claim(paths, boot)
        if claim or paths.ledger.exists():
            _sweep(paths, Ledger(paths.ledger, boot), kill=wipe)
        release(layout, paths, boot, lambda _who: None)
        if wipe:
            remove_tree(paths.state)
        progress.say(f"{paths.name}: down" if known else f"{paths.name}: was not up")
        return known


def _sweep(paths: InstancePaths, ledger: Ledger, *, kill: bool) -> None:
    """Undo the ledger. Its entries go as their things do, so a kill in here loses nothing."""
    _end_processes(paths, ledger, kill=kill)
    for cgroup in ledger.of(Kind.CGROUP):
        remove_cgroup(cgroup.key, Proc())
        ledger.gone(cgroup)
    for route in ledger.of(Kind.ROUTE):
        remove_route(route.key, route.via)
        ledger.gone(route)
    for link in ledger.of(Kind.LINK):
        remove_link(link.key)
        ledger.gone(link)
    for pin in [*reversed(ledger.of(Kind.MOUNT)), *ledger.of(Kind.NETNS)]:
        unpin(pin.key)
        ledger.gone(pin)


def _end_processes(paths: InstancePaths, ledger: Ledger, *, kill: bool) -> None:
    proc = Proc()
    supervisor = Supervisor(paths, ledger, proc, new_id)
    for number, stage in enumerate(STOP_ORDER):
        supervisor.stop(stage, kill=kill)
        if number == 0:  # nobody starts Pods any more
            for cgroup in ledger.of(Kind.CGROUP):
                end_members(cgroup.key, proc)
    for family in ledger.of(Kind.FAMILY):
        # shims and whatever else our processes left behind
        if stuck := end(dict.fromkeys(proc.bearers(family.key), 0.0), proc=proc):
            raise CleanupError(f"{stuck} processes of {paths.name} would not die")
        for resource in ledger.of(Kind.PROCESS):
            ledger.gone(resource)
        ledger.gone(family)
