"""Progress lines: what is being done, how long it takes by experience, how long it took."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from images.cache import cache_dir, exclusive

__all__ = ["Steps", "Timings"]


@dataclass
class Timings:
    """Seconds that each step took the last time, kept in a file; built-in figures before that."""

    path: Path
    builtin: dict[str, float]

    def expected(self, step: str) -> float | None:
        return self._read().get(step, self.builtin.get(step))

    def record(self, step: str, seconds: float) -> None:
        with exclusive("timings"):
            known = self._read() | {step: round(seconds, 1)}
            fresh = self.path.with_suffix(".new")
            fresh.write_text(json.dumps(known, indent=1, sort_keys=True))
            fresh.replace(self.path)

    def _read(self) -> dict[str, float]:
        try:
            return {str(name): float(value) for name, value in json.loads(self.path.read_text()).items()}
        except (OSError, ValueError, AttributeError):
            return {}


@dataclass
class Steps:
    """Prints `NAME: step (about 25 s) …` and, after it, the time it took."""

    name: str
    builtin: dict[str, float] = field(default_factory=dict)
    out: TextIO = sys.stderr
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self.timings = Timings(cache_dir() / f"timings-{self.name}.json", self.builtin)
        self.began = self.clock()

    def say(self, text: str) -> None:
        print(f"{self.name} {self.clock() - self.began:6.1f}s  {text}", file=self.out, flush=True)

    @contextmanager
    def step(self, key: str, text: str) -> Iterator[None]:
        """Times what happens inside under `key`; a failed step leaves no figure behind."""
        about = self.timings.expected(key)
        self.say(f"{text}{'' if about is None else f' (about {max(about, 1):.0f} s)'}")
        began = self.clock()
        yield
        seconds = self.clock() - began
        self.timings.record(key, seconds)
        self.say(f"{text}: done in {seconds:.1f} s")
