"""Whether a sandbox that nobody holds has been idle for long enough: asked once at expiry, never in between."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from skerry_operator.plan.podview import PodView
from skerry_operator.plan.types import IdleAnswer
from skerry_operator.settings import PlanSettings

__all__ = ["Ask", "Expired", "Extend", "IdleStep", "Keep", "judge_idle"]

SLACK = timedelta(seconds=1)
"""Times in status have whole seconds."""


@dataclass(frozen=True, slots=True)
class Keep:
    until: datetime


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask sandboxd when it was last used."""


@dataclass(frozen=True, slots=True)
class Extend:
    """Somebody used it since: it is idle from then on."""

    since: datetime


@dataclass(frozen=True, slots=True)
class Expired:
    pass


IdleStep = Keep | Ask | Extend | Expired


def judge_idle(
    since: datetime,
    idle: timedelta,
    pod: PodView,
    probe: IdleAnswer | None,
    *,
    now: datetime,
    settings: PlanSettings,
) -> IdleStep:
    """An answer counts if it is this Pod's and younger than the expiry that it was asked for."""
    expiry = since + idle
    if now < expiry:
        return Keep(expiry)
    if probe is None or probe.pod_uid != pod.uid or probe.at < expiry:
        return Ask() if pod.ready else _patient(expiry, now, settings)
    if probe.idle_seconds is None:
        again = probe.at + settings.probe_interval
        if pod.ready and again <= now < expiry + settings.probe_patience:
            return Ask()
        kept = _patient(expiry, now, settings)
        return Keep(min(kept.until, again)) if isinstance(kept, Keep) and again > now else kept
    # An answer from the future would be a way to live for ever: nobody used it later than now.
    used = min(probe.at - timedelta(seconds=probe.idle_seconds), now)
    return Extend(used) if used > since + SLACK and now < used + idle else Expired()


def _patient(expiry: datetime, now: datetime, settings: PlanSettings) -> Keep | Expired:
    """Unknown is not dead, and not for ever."""
    until = expiry + settings.probe_patience
    return Keep(until) if now < until else Expired()
