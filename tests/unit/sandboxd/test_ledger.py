"""The ledger: keys outlive a restart, bad lines do no harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from skerry_api.sandboxd_events import ExitEvent
from skerry_sandboxd.ledger import Entry, Ledger, parse_lines

DONE = ExitEvent(code=0, duration_ms=5)


def test_survives_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    ledger = Ledger(path)
    ledger.put("running", Entry("f1"))
    ledger.put("done", Entry("f2"))
    ledger.put("done", Entry("f2", DONE, 17))
    ledger.put("void", Entry("f3"))
    ledger.void("void")
    again = Ledger(path)
    assert again.get("running") == Entry("f1")
    assert again.get("done") == Entry("f2", DONE, 17)
    assert again.get("void") is None


def test_is_private(tmp_path: Path) -> None:
    Ledger(tmp_path / "ledger").put("a", Entry("f"))
    assert (tmp_path / "ledger").stat().st_mode & 0o077 == 0


def test_keeps_the_newest(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    ledger = Ledger(path, capacity=10)
    for index in range(200):
        ledger.put(f"k{index}", Entry("f"))
    assert len(path.read_text().splitlines()) <= 41
    for each in (ledger, Ledger(path, capacity=10)):
        assert each.get("k189") is None
        assert each.get("k190") == Entry("f")


def test_without_a_file() -> None:
    ledger = Ledger(None)
    ledger.put("a", Entry("f"))
    assert ledger.get("a") == Entry("f")


def test_a_failed_write_records_nothing(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    (tmp_path / "ledger").unlink()
    (tmp_path / "ledger").mkdir()
    with pytest.raises(OSError, match="directory"):
        ledger.put("a", Entry("f"))
    assert ledger.get("a") is None


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{",
        "[]",
        "null",
        "5",
        '{"key": "a"}',
        '{"fingerprint": "f"}',
        '{"key": "a", "fingerprint": "f", "exit": 3}',
    ],
)
def test_bad_lines_are_skipped(line: str) -> None:
    good = '{"key": "ok", "fingerprint": "f"}'
    assert parse_lines(f"{good}\n{line}\n")["ok"] == Entry("f")
