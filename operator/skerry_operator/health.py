"""What the probes judge: is what should happen again and again still happening? Pure but for the clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from skerry_operator.cache.store import WATCHED
from skerry_operator.kube.kinds import Kind

__all__ = ["Health", "Limits"]


@dataclass(frozen=True)
class Limits:
    """Seconds and counts past which this process had better be restarted."""

    resync_age: float
    """Since a resync last came to an end, successful or refused by the API server (a restart heals no API)."""
    queue_age: float
    """That a key waits for a worker while no pass ends."""
    missed_resyncs: int
    """Resyncs in a row that found changes of a kind which its watch had not told."""


@dataclass
class Health:
    """Moments are monotonic seconds; None: never yet."""

    monotonic: Callable[[], float]
    limits: Limits
    started: float = 0.0
    listed: set[Kind] = field(default_factory=set)
    delivered: dict[Kind, float] = field(default_factory=dict)
    """When the watch of a kind was last known to deliver."""
    missed: dict[Kind, int] = field(default_factory=dict)
    """Resyncs in a row with missed changes."""
    resynced: float | None = None
    passed: float | None = None
    queue_age: Callable[[], float] = lambda: 0.0
    stopping: bool = False

    def __post_init__(self) -> None:
        self.started = self.monotonic()

    def note_listed(self, kind: Kind) -> None:
        self.listed.add(kind)

    def note_delivered(self, kind: Kind) -> None:
        self.delivered[kind] = self.monotonic()

    def note_watch(self, kind: Kind, *, missed: bool) -> None:
        """The verdict of a resync on a kind's watch."""
        if missed:
            self.missed[kind] = self.missed.get(kind, 0) + 1
        else:
            self.missed[kind] = 0
            self.note_delivered(kind)

    def note_resynced(self) -> None:
        self.resynced = self.monotonic()

    def note_passed(self) -> None:
        self.passed = self.monotonic()

    def watch_ages(self) -> Mapping[Kind, float]:
        now = self.monotonic()
        return {kind: now - self.delivered.get(kind, self.started) for kind in WATCHED}

    def resync_age(self) -> float:
        return self.monotonic() - (self.started if self.resynced is None else self.resynced)

    def alive(self) -> tuple[str, ...]:
        """Reasons to restart; none is well."""
        faults = []
        if self.resync_age() > self.limits.resync_age:
            faults.append(f"no resync has come to an end for {self.resync_age():.0f} s")
        faults += [
            f"the watch of {kind.plural} missed changes in {count} resyncs in a row"
            for kind, count in self.missed.items()
            if count >= self.limits.missed_resyncs
        ]
        idle = self.monotonic() - (self.started if self.passed is None else self.passed)
        waiting = self.queue_age()
        if min(waiting, idle) > self.limits.queue_age:
            faults.append(f"a key has waited {waiting:.0f} s and no pass has ended for {idle:.0f} s")
        return tuple(faults)

    def ready(self) -> tuple[str, ...]:
        """Reasons not to be counted as ready; none is well. A standby is ready."""
        faults = [f"{kind.plural} not listed yet" for kind in WATCHED if kind not in self.listed]
        return (*faults, "stopping") if self.stopping else tuple(faults)
