"""Looking at instances without changing them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from skerry_devcluster.cluster import Claim, read_claim
from skerry_devcluster.facts import facts_of, to_json
from skerry_devcluster.host import boot_id
from skerry_devcluster.instances import claims, paths_of
from skerry_devcluster.layout import Layout
from skerry_devcluster.progress import Progress, Timings
from skerry_devcluster.session import prepare, session_of
from skerry_devcluster.up import is_healthy

__all__ = ["Health", "InstanceStatus", "known_instances", "status"]


class Health(StrEnum):
    UP = "Up"
    DEGRADED = "Degraded"  # claimed, but a process is missing or doesn't answer: `up` repairs
    DOWN = "Down"  # only its state is kept


@dataclass(frozen=True)
class InstanceStatus:
    """One instance. `components` maps names to pids, 0 for what does not run; `facts` only while claimed."""

    name: str
    slot: int
    health: Health
    components: dict[str, int]
    facts: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "slot": self.slot,
            "health": self.health,
            "components": self.components,
            **self.facts,
        }


def known_instances(layout: Layout) -> list[Claim]:
    """All that are up on this machine and the kept states of this user, by name."""
    up = {claim.name: claim for claim in claims(layout, boot_id())}
    kept = {
        claim.name: claim for path in layout.clusters.glob("*/instance.json") if (claim := read_claim(path))
    }
    return [claim for _, claim in sorted((kept | up).items())]


def status(layout: Layout, claim: Claim, programs: dict[str, Path] | None = None) -> InstanceStatus:
    """The state of one instance, as of now; takes no lock, so it may catch a change midway."""
    if claim.name not in {live.name for live in claims(layout, boot_id())}:
        return InstanceStatus(claim.name, claim.slot, Health.DOWN, {}, {})
    quiet = Progress(Timings(layout.timings), quiet=True)
    session = session_of(
        claim, paths_of(layout, claim.name, claim.boot), programs or prepare(claim.mode, layout, quiet)
    )
    pids = {
        name: process.pid if (process := session.supervisor.running(name)) else 0
        for name in session.components
    }
    health = Health.UP if is_healthy(session) else Health.DEGRADED
    return InstanceStatus(claim.name, claim.slot, health, pids, to_json(facts_of(session.cluster)))
