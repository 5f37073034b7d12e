"""Logs of output: caps, offsets, gaps, and when a writer must wait."""

from __future__ import annotations

import random

import pytest

from skerry_sandboxd.output import CappedLog, Gap, OutputLog, Piece, WindowLog


def stream(log: OutputLog, cursor: int = 0) -> bytes:
    """What a follower gets, with gaps shown."""
    return b"".join(
        bytes(item.data) if isinstance(item, Piece) else b"<%d>" % item.dropped for item in log.read(cursor)
    )


class TestCapped:
    def test_below_the_cap_all_is_kept(self) -> None:
        log = CappedLog(4096)
        log.append("stdout", b"a" * 1000)
        log.append("stderr", b"b" * 500)
        assert stream(log) == b"a" * 1000 + b"b" * 500
        log.finish()
        assert (log.finished, log.dropped, log.end) == (True, 0, 1500)

    def test_streams_stay_apart_and_in_order(self) -> None:
        log = CappedLog(4096)
        for name in ("stdout", "stdout", "stderr", "stdout"):
            log.append("stdout" if name == "stdout" else "stderr", name.encode())
        found = [(i.stream, bytes(i.data)) for i in log.read(0) if isinstance(i, Piece)]
        assert found == [("stdout", b"stdoutstdout"), ("stderr", b"stderr"), ("stdout", b"stdout")]

    def test_head_and_tail_with_the_gap_between(self) -> None:
        log = CappedLog(2048)
        for index in range(1000):
            log.append("stdout", b"%09d\n" % index)
        assert stream(log).startswith(b"000000000\n")
        log.finish()
        text = stream(log)
        assert text.endswith(b"000000999\n")
        assert text.count(b"<") == 1
        assert log.end + log.dropped == 10_000
        assert log.end <= 2048

    def test_nothing_is_counted_twice_or_lost(self) -> None:
        random_ = random.Random(7)
        for _ in range(50):
            log, total = CappedLog(random_.choice([1024, 5000])), 0
            for _ in range(random_.randrange(200)):
                data = random_.randbytes(random_.randrange(1, 300))
                log.append(random_.choice(["stdout", "stderr"]), data)
                total += len(data)
            log.finish()
            assert log.end + log.dropped == total

    def test_memory_is_bounded_even_for_single_bytes(self) -> None:
        log = CappedLog(64 * 1024)
        for index in range(200_000):
            log.append("stdout" if index % 2 else "stderr", b"x")
        log.finish()
        assert log.retained <= 66 * 1024
        assert log.end + log.dropped == 200_000

    @pytest.mark.parametrize("cursor", [0, 1, 999, 1000, 1001, 1500, 1501])
    def test_any_cursor(self, cursor: int) -> None:
        log = CappedLog(4096)
        log.append("stdout", b"a" * 1000)
        log.append("stderr", b"b" * 500)
        assert stream(log, cursor) == (b"a" * 1000 + b"b" * 500)[cursor:]

    def test_a_follower_who_has_the_head_gets_gap_and_tail(self) -> None:
        log = CappedLog(2048)
        log.append("stdout", b"h" * 1024)
        cursor = log.end
        log.append("stdout", b"m" * 5000 + b"t" * 100)
        assert log.read(cursor) == []
        log.finish()
        first, *rest = log.read(cursor)
        assert isinstance(first, Gap)
        assert b"".join(bytes(i.data) for i in rest if isinstance(i, Piece)).endswith(b"t" * 100)

    def test_forgetting(self) -> None:
        log = CappedLog(2048)
        log.append("stdout", b"x" * 10_000)
        log.finish()
        log.forget()
        assert stream(log) == b"<10000>"
        assert log.retained < 1024

    def test_followers_are_woken(self) -> None:
        log = CappedLog(2048)
        seen = log.changed
        log.append("stdout", b"x")
        assert seen.is_set()
        assert not log.changed.is_set()


class TestWindow:
    def make(self, cap: int = 4096) -> tuple[WindowLog, list[bool]]:
        calls: list[bool] = []
        return WindowLog(cap, calls.append), calls

    def test_unread_output_makes_the_writer_wait(self) -> None:
        log, calls = self.make()
        log.append("stdout", b"x" * 4095)
        assert calls == []
        log.append("stdout", b"x")
        assert calls == [True]
        log.sent(2047)
        assert calls == [True]
        log.sent(2048)
        assert calls == [True, False]

    def test_nothing_unread_is_ever_dropped(self) -> None:
        log, _ = self.make()
        log.append("stdout", b"x" * 50_000)
        assert len(stream(log)) == 50_000

    def test_what_was_read_is_kept_for_a_while(self) -> None:
        log, _ = self.make()
        for index in range(100):
            log.append("stdout" if index % 2 else "stderr", b"%04d" % index * 25)
            log.sent(log.end)
        assert log.retained < 8192 + 128 * 100
        assert stream(log, log.end - 1000).endswith(b"0099")
        gap = log.read(0)[0]
        assert isinstance(gap, Gap)
        assert gap.dropped == gap.offset > 0

    def test_tiny_pieces_count_too(self) -> None:
        log, calls = self.make()
        for index in range(200):
            log.append("stdout" if index % 2 else "stderr", b"x")
        assert calls == [True]
