"""Volumes of threads: kept while a run of the thread is not over, then for their retention. Pure.

The decision stands on the volume before it is acted on. A starting run takes the stamp away before it makes its Pod, on
the very version it saw; a volume that is marked as expired is never used again. So no run ever loses a volume under it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from skerry_api.agentrun import AgentRun
from skerry_api.persistence import DEFAULT_RETENTION, StateVolume
from skerry_api.phases import TERMINAL
from skerry_api.resolve import has_acted
from skerry_operator.build.state_volume import build_state_volume, state_volume_of, volume_again
from skerry_operator.plan.actions import Action, ApplyVolume, DeleteVolume
from skerry_operator.plan.lookup import Found, Lookup, Missing
from skerry_operator.plan.types import ObservedVolumes, Plan
from skerry_operator.plan.volumeview import VolumeView

__all__ = ["NotYet", "StateGone", "plan_volumes", "taken_up"]


class NotYet(Exception):
    """The thread's volume can't be used now; the message says why, "" if nobody could say."""


class StateGone(Exception):
    """The volume is gone, and with it what a run that has acted would go on from."""


def taken_up(run: AgentRun, wanted: StateVolume, found: Lookup[VolumeView]) -> tuple[Action, ...]:
    """What must be done before the run's Pod may mount the volume of its thread. Raises NotYet and StateGone.

    One that was made anew under the same name is the runner's to find out: it alone sees that nothing is in it.
    """
    match found:
        case Missing():
            if has_acted(run):
                raise StateGone(
                    f"StateGone: PersistentVolumeClaim {state_volume_of(run)} is gone, and with it what the run would go on from"
                )
            return (ApplyVolume(build_state_volume(run, wanted)),)
        case Found(volume):
            if not volume.ours:
                raise NotYet(f"PersistentVolumeClaim {volume.name} is in the way: it is not Skerry's")
            if volume.terminating or volume.expired:
                why = "past its retention" if volume.expired else "which is being deleted"
                raise NotYet(f"waits until PersistentVolumeClaim {volume.name}, {why}, is gone")
            if volume.unused_since is None and volume.retention_seconds == wanted.retention_seconds:
                return ()
            again = volume_again(volume, retention_seconds=wanted.retention_seconds, unused_since=None)
            return (ApplyVolume(again),)
        case _:
            raise NotYet("")


def plan_volumes(observed: ObservedVolumes, now: datetime) -> Plan:
    """What the namespace's volumes need now, and when the next one is due."""
    actions: list[Action] = []
    due: list[datetime] = []
    for volume in observed.volumes:
        if not volume.ours or volume.terminating:
            continue
        action, wake = _one(volume, observed.runs.get(volume.name, ()), now)
        actions += [action] if action else []
        due += [wake] if wake else []
    return Plan(actions=tuple(actions), wake_at=min(due, default=None))


def _one(
    volume: VolumeView, runs: Sequence[AgentRun], now: datetime
) -> tuple[Action | None, datetime | None]:
    if volume.expired:
        return DeleteVolume(volume.namespace, volume.name, volume.uid), None
    kept = volume.retention_seconds
    if any(run.status.phase not in TERMINAL for run in runs):
        # Its run takes the stamp away before it starts; this one came too late.
        stale = volume.unused_since is not None
        return (
            ApplyVolume(volume_again(volume, retention_seconds=kept, unused_since=None)) if stale else None
        ), None
    since = _unused_since(volume, runs, now)
    if since != volume.unused_since:
        return ApplyVolume(volume_again(volume, retention_seconds=kept, unused_since=since)), None
    due = since + timedelta(seconds=DEFAULT_RETENTION if kept is None else kept)
    if now < due:
        return None, due
    return ApplyVolume(volume_again(volume, retention_seconds=kept, unused_since=since, expired=True)), None


def _unused_since(volume: VolumeView, runs: Sequence[AgentRun], now: datetime) -> datetime:
    """The end of the last run that is still known, or what was seen before; at first, now."""
    ends = [run.status.completion_time for run in runs if run.status.completion_time is not None]
    known = [*ends, *([volume.unused_since] if volume.unused_since else [])]
    return max(known, default=now).replace(microsecond=0)
