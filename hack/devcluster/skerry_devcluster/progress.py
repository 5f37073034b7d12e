"""Progress lines: what happens, for how long, and how long it should take."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

__all__ = ["BUILTIN_SECONDS", "Progress", "Timings", "describe", "seconds_text"]

# Measured on 2 cores; what is known until this machine has measured its own.
BUILTIN_SECONDS: Mapping[str, float] = {
    "Debian packages": 30,
    "Go toolchain": 25,
    "build node (cold)": 620,
    "build node": 12,
    "build coredns (cold)": 60,
    "build coredns": 8,
    "build containerd (cold)": 60,
    "build containerd": 6,
    "build runc (cold)": 25,
    "build runc": 5,
    "build pause": 1,
    "certificates": 0.5,
    "API server": 3.5,
    "node": 4,
    "CoreDNS": 2,
}
_HEARTBEAT = 20.0


def seconds_text(seconds: float) -> str:
    """`0.4 s`, `12 s`, `7 min 33 s`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    return f"{whole} s" if whole < 120 else f"{whole // 60} min {whole % 60} s"


def describe(step: str, elapsed: float, expected: float | None, *, done: bool) -> str:
    """One progress line, without the clock at its start."""
    about = f"expected about {seconds_text(expected)}" if expected is not None else "not measured yet"
    if done:
        return f"{step}: done in {seconds_text(elapsed)} ({about})"
    if elapsed == 0:
        return f"{step} … ({about})"
    return f"{step}: {seconds_text(elapsed)} so far ({about})"


class Timings:
    """What each step took last time on this machine."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._measured = self._read()

    def _read(self) -> dict[str, float]:
        try:
            raw = json.loads(self._path.read_text())
            return {str(step): float(seconds) for step, seconds in raw.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            # an estimate is never worth an error
            return {}

    def expected(self, step: str) -> float | None:
        return self._measured.get(step, BUILTIN_SECONDS.get(step))

    def record(self, step: str, seconds: float) -> None:
        # read anew: another call may have measured other steps meanwhile
        self._measured = {**self._read(), step: round(seconds, 2)}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        temporary.write_text(json.dumps(self._measured, indent=1, sort_keys=True))
        temporary.replace(self._path)


class Progress:
    """Prints to stderr, so that stdout stays for answers."""

    def __init__(self, timings: Timings, out: TextIO = sys.stderr, *, quiet: bool = False) -> None:
        self._timings = timings
        self._out = out
        self._quiet = quiet
        self._began = time.monotonic()

    def say(self, text: str) -> None:
        if not self._quiet:
            print(f"[{time.monotonic() - self._began:6.1f}s] {text}", file=self._out, flush=True)

    @contextmanager
    def step(self, name: str, *, announce: bool = False, whole: bool = True) -> Iterator[None]:
        """Time a step.

        Args:
            name: under which its time is kept.
            announce: say so before it begins too.
            whole: whether all of it is to be done; what was half done already is no measure.
        """
        expected = self._timings.expected(name)
        if announce:
            self.say(describe(name, 0, expected, done=False))
        began = time.monotonic()
        yield
        elapsed = time.monotonic() - began
        self.say(describe(name, elapsed, expected, done=True))
        if whole:
            self._timings.record(name, elapsed)

    def wait(self, name: str, process: subprocess.Popen[bytes]) -> int:
        """The exit code of a long-running child, with a line now and then."""
        began = time.monotonic()
        while True:
            try:
                return process.wait(timeout=_HEARTBEAT)
            except subprocess.TimeoutExpired:
                elapsed = time.monotonic() - began
                self.say(describe(name, elapsed, self._timings.expected(name), done=False))
