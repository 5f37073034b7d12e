"""Hints for the next call: whose, until when, how many."""

from __future__ import annotations

from skerry_runner.pending import Pending, RunKey

ONE, TWO, OTHER = RunKey("t", "1"), RunKey("t", "2"), RunKey("u", "1")


def test_a_hint_waits_until_it_was_delivered() -> None:
    pending: Pending[str] = Pending()
    for hint in ("a", "b", "a"):
        pending.put(ONE, hint)
    seen = pending.waiting(ONE)
    assert seen == ("a", "b") == pending.waiting(ONE)
    pending.put(ONE, "c")
    pending.delivered(ONE, seen)
    assert pending.waiting(ONE) == ("c",)
    pending.delivered(ONE, ("c",))
    pending.delivered(ONE, ("c",))
    assert pending.waiting(ONE) == ()


def test_runs_and_threads_are_kept_apart() -> None:
    pending: Pending[str] = Pending()
    for key in (ONE, TWO, OTHER):
        pending.put(key, key.run + key.thread)
    pending.clear_others(TWO)
    assert (pending.waiting(ONE), pending.waiting(TWO), pending.waiting(OTHER)) == ((), ("2t",), ("1u",))
    pending.clear(TWO)
    pending.clear(TWO)
    assert pending.waiting(TWO) == ()
    assert pending.waiting(OTHER) == ("1u",)


def test_what_was_touched_longest_ago_goes_first() -> None:
    pending: Pending[str] = Pending(kept=2)
    pending.put(ONE, "a")
    pending.put(TWO, "b")
    pending.put(ONE, "c")
    pending.put(OTHER, "d")
    assert (pending.waiting(ONE), pending.waiting(TWO), pending.waiting(OTHER)) == (("a", "c"), (), ("d",))
