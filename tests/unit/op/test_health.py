"""What the probes say, by table."""

from __future__ import annotations

from skerry_operator.cache.store import WATCHED
from skerry_operator.health import Health, Limits
from skerry_operator.kube.kinds import POD, RUN
from skerry_testing.fakeclock import FakeClock

LIMITS = Limits(resync_age=100, queue_age=50, missed_resyncs=3)


def make() -> tuple[Health, FakeClock]:
    clock = FakeClock()
    return Health(clock.monotonic, LIMITS), clock


def test_ready_once_every_kind_was_listed() -> None:
    health, _ = make()
    assert len(health.ready()) == len(WATCHED)
    for kind in WATCHED:
        health.note_listed(kind)
    assert health.ready() == ()
    health.stopping = True
    assert health.ready() == ("stopping",)


def test_no_resync_for_too_long() -> None:
    health, clock = make()
    clock.pause(100)
    assert health.alive() == ()
    clock.pause(1)
    assert health.alive() == ("no resync has come to an end for 101 s",)
    health.note_resynced()
    assert health.alive() == ()


def test_a_watch_that_keeps_missing_changes() -> None:
    health, clock = make()
    for _ in range(2):
        health.note_watch(RUN, missed=True)
    assert health.alive() == ()
    health.note_watch(RUN, missed=False)
    for _ in range(3):
        health.note_watch(RUN, missed=True)
    assert health.alive() == ("the watch of agentruns missed changes in 3 resyncs in a row",)
    clock.pause(7)
    assert health.watch_ages()[RUN] == 7
    health.note_delivered(POD)
    assert health.watch_ages()[POD] == 0


def test_a_stuck_queue_is_one_that_waits_while_no_pass_ends() -> None:
    health, clock = make()
    health.queue_age = lambda: 60.0
    clock.pause(60)
    assert health.alive() == ("a key has waited 60 s and no pass has ended for 60 s",)
    health.note_passed()
    assert health.alive() == (), "long, but it moves"
    health.queue_age = lambda: 0.0
    clock.pause(60)
    health.note_resynced()
    assert health.alive() == (), "nothing to do is no fault"
