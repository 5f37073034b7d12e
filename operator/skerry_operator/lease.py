"""Leadership over a Lease object, as pure functions: what to do about what was last seen of it.

Whether another's lease has run out is judged by when *we* saw it change, on our own clock; the times that stand in
it come from other machines' clocks and are for people only.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from skerry_operator.kube.kinds import LEASE, Raw

__all__ = ["Create", "Seen", "Step", "Take", "Terms", "Wait", "decide", "lease_body", "observe", "pause"]


@dataclass(frozen=True)
class Terms:
    """Seconds: how long others wait, how long we lead after a renewal, how often we renew, and how often we try to."""

    duration: int
    renew: float
    interval: float
    retry: float


@dataclass(frozen=True)
class Seen:
    """A state of the Lease and the moment (monotonic, seconds) when it was first seen so."""

    holder: str
    resource_version: str
    duration: float
    since: float


@dataclass(frozen=True)
class Create:
    step: Literal["create"] = "create"


@dataclass(frozen=True)
class Take:
    """Write ourselves in, or renew."""

    step: Literal["take"] = "take"


@dataclass(frozen=True)
class Wait:
    holder: str
    step: Literal["wait"] = "wait"


Step = Create | Take | Wait


def observe(before: Seen | None, lease: Raw, now: float, terms: Terms) -> Seen:
    """Fold a fresh read into what was seen; the age goes on only if nothing changed."""
    version = lease["metadata"]["resourceVersion"]
    if before is not None and before.resource_version == version:
        return before
    spec = lease.get("spec") or {}
    duration = spec.get("leaseDurationSeconds")
    return Seen(
        holder=spec.get("holderIdentity") or "",
        resource_version=version,
        duration=float(duration) if isinstance(duration, int) and duration > 0 else float(terms.duration),
        since=now,
    )


def decide(seen: Seen | None, identity: str, now: float) -> Step:
    """What to do: `seen` is None when there is no Lease object."""
    if seen is None:
        return Create()
    if seen.holder in {"", identity}:
        return Take()
    if now - seen.since >= seen.duration:
        return Take()
    return Wait(seen.holder)


def pause(seen: Seen | None, *, renewed: bool, now: float, terms: Terms, random: float) -> float:
    """Seconds until the next round; `random` in [0, 1) keeps contenders from meeting at every one of them.

    Another's Lease is looked at again as soon as it may have run out.
    """
    if renewed:
        return terms.interval * (0.8 + 0.4 * random)
    usual = terms.retry * (0.8 + 0.4 * random)
    left = seen.since + seen.duration - now if seen is not None else 0.0
    return left + 0.1 * terms.retry * random if 0.0 < left < usual else usual


def lease_body(
    before: Raw | None, *, namespace: str, name: str, identity: str, now: datetime, terms: Terms
) -> dict[str, Any]:
    """The object to write; an empty identity releases. Carries the resourceVersion of `before`."""
    spec = dict((before or {}).get("spec") or {})
    moment = now.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    if identity and spec.get("holderIdentity") != identity:
        spec["acquireTime"] = moment
        spec["leaseTransitions"] = int(spec.get("leaseTransitions") or 0) + (1 if before else 0)
    spec |= {
        "holderIdentity": identity,
        "leaseDurationSeconds": terms.duration if identity else 1,
        "renewTime": moment,
    }
    metadata: dict[str, Any] = {"name": name, "namespace": namespace}
    if before is not None:
        metadata["resourceVersion"] = before["metadata"]["resourceVersion"]
    return {"apiVersion": LEASE.api_version, "kind": LEASE.name, "metadata": metadata, "spec": spec}
