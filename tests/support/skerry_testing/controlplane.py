"""Brings up a real etcd and API server for tests, and takes it down when its last user has gone."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from skerry_testing.access import Access
from skerry_testing.users import MARKS, shared

__all__ = ["ROOT", "ControlPlane", "control_plane", "of_this_checkout"]

ROOT = Path(__file__).resolve().parents[3]
DEV = ROOT / "hack" / "skerry-dev"
UP_SECONDS = 1200  # A first build of the binaries, not a start.
KUBECONFIG_ENV = "SKERRY_TEST_KUBECONFIG"
"""A kubeconfig of an API server to use instead of our own; it is left as it is, but for the CRDs."""


def of_this_checkout(name: str) -> str:
    """An instance's name that another checkout, whose CRDs may differ, does not have."""
    return f"{name}-{hashlib.sha256(str(ROOT).encode()).hexdigest()[:6]}"


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

    def up(_first: bool) -> None:
        _run(dev, "up", "--control-plane-only", "--name", instance)

    with shared(marks / instance, up, lambda: _run(dev, "down", "--wipe", "--name", instance)):
        kubeconfig = _run(dev, "kubeconfig", "--name", instance).strip()
        yield ControlPlane(Access.from_kubeconfig(Path(kubeconfig)), instance, dev)


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
