"""Starting, adopting and ending the instance's processes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from skerry_devcluster.commands import SYSTEM_PATH
from skerry_devcluster.components import DEFAULT_GRACE_SECONDS, GRACE_SECONDS, Component
from skerry_devcluster.errors import CleanupError, StartError
from skerry_devcluster.layout import InstancePaths
from skerry_devcluster.ledger import Kind, Ledger, Resource
from skerry_devcluster.namespaces import within
from skerry_devcluster.procs import TOKEN, Proc, Process
from skerry_devcluster.signals import end

__all__ = ["Supervisor", "family", "log_tail"]

_LOG_LIMIT = 64 * 1024**2


def family(ledger: Ledger, new_id: Callable[[], str]) -> str:
    """What the tokens of this instance's processes begin with."""
    known = ledger.of(Kind.FAMILY)
    if known:
        return known[0].key
    made = Resource(Kind.FAMILY, f"{new_id()}/")
    ledger.make(made)
    return made.key


def log_tail(path: Path, lines: int = 12) -> str:
    try:
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
    except FileNotFoundError:
        return ""


class Supervisor:
    """Processes of one instance. `new_id` gives a fresh random name at each call."""

    def __init__(
        self,
        paths: InstancePaths,
        ledger: Ledger,
        proc: Proc,
        new_id: Callable[[], str],
        binary_dirs: Sequence[str] = (),
    ) -> None:
        self._paths = paths
        self._binary_dirs = binary_dirs
        self._ledger = ledger
        self._proc = proc
        self._new_id = new_id
        self._children: list[subprocess.Popen[bytes]] = []

    def running(self, name: str) -> Process | None:
        for resource in self._ledger.processes(name):
            if process := self._proc.running(resource):
                return process
        return None

    def current(self, name: str, fingerprint: str) -> bool:
        """Whether it runs and will go on to, and as it would be started now."""
        return any(
            resource.fingerprint == fingerprint
            and (process := self._proc.running(resource)) is not None
            and not process.dying
            for resource in self._ledger.processes(name)
        )

    def ensure(self, component: Component, fingerprint: str) -> bool:
        """Have it run with this configuration; True if it had to be started."""
        if self.current(component.name, fingerprint):
            return False
        self.stop([component.name])
        token = f"{family(self._ledger, self._new_id)}{component.name}/{self._new_id()}"
        planned = Resource(Kind.PROCESS, token, component=component.name, fingerprint=fingerprint)
        self._ledger.make(planned)
        child = subprocess.Popen(
            [*within(self._paths, mounts=component.node), *component.argv],
            stdin=subprocess.DEVNULL,
            stdout=(log := self._open_log(component.name)),
            stderr=log,
            env=self._environment(token),
            start_new_session=True,
            cwd="/",
        )
        os.close(log)
        self._children.append(child)
        process = self._proc.get(child.pid)
        if process is None:  # only a reaped child has no entry, and we have not waited
            raise StartError(f"{component.name}: vanished at its start")
        self._ledger.started(planned, child.pid, process.start)
        return True

    def stop(self, names: Iterable[str], *, kill: bool = False) -> None:
        """End these components; TERM first unless `kill`.

        Raises:
            CleanupError: one is stuck in the kernel.
        """
        resources = [resource for name in names for resource in self._ledger.processes(name)]
        graces = {
            process: 0 if kill else GRACE_SECONDS.get(resource.component, DEFAULT_GRACE_SECONDS)
            for resource in resources
            if (process := self._proc.running(resource))
        }
        if stuck := end(graces, proc=self._proc):
            raise CleanupError(f"{stuck} of {', '.join(r.component for r in resources)} would not die")
        for resource in resources:
            self._ledger.gone(resource)
        self._reap()

    def alive_or_raise(self, name: str) -> None:
        """For those who wait for a component to get ready.

        Raises:
            StartError: it has ended, with the end of its log.
        """
        if self.running(name) is None:
            log = self._paths.log / f"{name}.log"
            raise StartError(f"{name} ended; the end of {log}:\n{log_tail(log)}")

    def _reap(self) -> None:
        self._children = [child for child in self._children if child.poll() is None]

    def _open_log(self, name: str) -> int:
        path = self._paths.log / f"{name}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size > _LOG_LIMIT:
            path.replace(path.with_name(f"{name}.log.1"))
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o640)

    def _environment(self, token: str) -> Mapping[str, str]:
        # Nothing inherited: no proxy, no cloud credentials, no setting of whoever calls.
        return {
            "PATH": ":".join([*self._binary_dirs, SYSTEM_PATH]),
            "HOME": str(self._paths.state),
            "LANG": "C.UTF-8",
            TOKEN: token,
        }
