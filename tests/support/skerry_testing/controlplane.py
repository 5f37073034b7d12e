"""Brings up a real etcd and API server for tests, and takes it down when its last user has gone."""

from __future__ import annotations

import fcntl
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from skerry_testing.access import Access

__all__ = ["MARKS", "ROOT", "ControlPlane", "control_plane"]

ROOT = Path(__file__).resolve().parents[3]
DEV = ROOT / "hack" / "skerry-dev"
MARKS = Path(tempfile.gettempdir(), f"skerry-test-{os.getuid()}")
UP_SECONDS = 1200  # A first build of the binaries, not a start.
KUBECONFIG_ENV = "SKERRY_TEST_KUBECONFIG"
"""A kubeconfig of an API server to use instead of our own; it is left as it is, but for the CRDs."""


@dataclass(frozen=True)
class ControlPlane:
    """A running API server without nodes or controllers: no Pod is ever started, no garbage collected."""

    access: Access
    instance: str | None
    """Name for `skerry-dev`; None when the server was given from outside."""
    dev: Path

    def restart(self, component: str = "kube-apiserver") -> None:
        """Stop and start one of its processes. Only for a control plane that the test has to itself."""
        if self.instance is None:
            raise RuntimeError(f"{KUBECONFIG_ENV} is set: that server can't be restarted from here")
        _run(self.dev, "restart", component, "--name", self.instance)


@contextmanager
def control_plane(instance: str, dev: Path = DEV, marks: Path = MARKS) -> Iterator[ControlPlane]:
    """Bring the instance up, or join the processes that have it up. Raises RuntimeError saying why it can't."""
    if given := os.environ.get(KUBECONFIG_ENV):
        yield ControlPlane(Access.from_kubeconfig(Path(given)), None, dev)
        return
    with _user_of(instance, dev, marks):
        kubeconfig = _run(dev, "kubeconfig", "--name", instance).strip()
        yield ControlPlane(Access.from_kubeconfig(Path(kubeconfig)), instance, dev)


@contextmanager
def _user_of(instance: str, dev: Path, marks: Path) -> Iterator[None]:
    """Count this process among the instance's users: the first brings it up, the last takes it down."""
    base = marks / instance
    users = base / "users"
    users.mkdir(parents=True, exist_ok=True)
    mine = users / f"{os.getpid()}-{_start_of(os.getpid())}"
    with _locked(base / "lock"):
        mine.touch()
        try:
            _run(dev, "up", "--control-plane-only", "--name", instance)
        except BaseException:
            mine.unlink()
            raise
    try:
        yield
    finally:
        with _locked(base / "lock"):
            mine.unlink(missing_ok=True)
            if not _living(users):
                _run(dev, "down", "--wipe", "--name", instance)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _living(users: Path) -> list[Path]:
    """The users whose processes live; marks of killed ones are removed."""
    alive = []
    for mark in users.iterdir():
        pid, _, start = mark.name.partition("-")
        if _start_of(int(pid)) == start:
            alive.append(mark)
        else:
            mark.unlink(missing_ok=True)
    return alive


def _start_of(pid: int) -> str | None:
    """Start time of a process in ticks since boot: with the pid it names a process for good."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return None
    return stat.rpartition(")")[2].split()[19]


def _run(dev: Path, *arguments: str) -> str:
    command = f"{dev.name} {' '.join(arguments)}"
    try:
        done = subprocess.run(
            [dev, *arguments], capture_output=True, text=True, check=False, timeout=UP_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RuntimeError(f"{command}: {error}") from error
    if done.returncode:
        raise RuntimeError(f"{command} failed:\n{done.stderr}{done.stdout}")
    return done.stdout
