"""The gate before bash: commands per second over the corpus, and the slowest of commands made to be slow.

Needs no cluster: `PYTHONPATH=tests/support python -m benchmarks.audit`. Seconds are of the process, not of the clock, so
that other work beside it counts for less.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

from skerry_runner.audit import audit
from skerry_testing.hardcommands import hard_commands

__all__ = ["audit_corpus", "audit_hard"]

DATA = Path(__file__).resolve().parent.parent / "tests" / "data" / "audit"
TIMES = 5


def _seconds(command: str) -> float:
    """The fastest of some: whatever disturbed the others is not the gate's."""
    taken = []
    for _ in range(TIMES):
        started = time.process_time()
        audit(command)
        taken.append(time.process_time() - started)
    return min(taken)


def audit_corpus() -> dict[str, float]:
    """Commands, commands per second, and milliseconds of the median and the slowest."""
    commands = [
        json.loads(line)["command"]
        for file in sorted(DATA.glob("*.jsonl"))
        for line in file.open(encoding="utf-8")
    ]
    taken = sorted(map(_seconds, commands))
    return {
        "commands": len(commands),
        "commands per second": len(commands) / sum(taken),
        "median, ms": taken[len(taken) // 2] * 1000,
        "slowest, ms": taken[-1] * 1000,
    }


def audit_hard() -> dict[str, float]:
    """Milliseconds of the five slowest of 10,000 characters, by name."""
    taken = {name: _seconds(command) * 1000 for name, command in hard_commands()}
    return dict(sorted(taken.items(), key=lambda item: -item[1])[:5])


def main() -> None:
    for title, rows in (
        ("The corpus", audit_corpus()),
        ("10,000 characters made to be slow, ms", audit_hard()),
    ):
        print(f"\n{title}\n\n| what | value |\n|---|---|")
        for name, value in rows.items():
            print(f"| {name} | {value:.3g} |" if value < 1000 else f"| {name} | {value:.0f} |")


if __name__ == "__main__":
    main()
