"""An instance per test, on the real machine, and what the machine looks like without it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skerry_devcluster.host import boot_id, cgroup_roots, parse_mounts
from skerry_devcluster.instances import claims
from skerry_devcluster.layout import Layout, layout_from
from skerry_devcluster.ledger import Ledger, Resource
from skerry_devcluster.procs import Proc

ROOT = Path(__file__).resolve().parents[2]
COMMAND = str(ROOT / "hack" / "skerry-dev")
# Other clusters and image builds may be at work on this machine: what is theirs comes and goes.
_FOREIGN_MOUNTS = re.compile(r"/var/lib/containers/|/var/tmp/buildah|/tmp/")


def output(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


@dataclass(frozen=True)
class Machine:
    """What `up` must leave as it was, without what belongs to other instances."""

    mounts: frozenset[str]
    links: frozenset[str]
    routes: frozenset[str]
    namespaces: frozenset[str]
    cgroups: frozenset[str]
    firewall: str

    @classmethod
    def look(cls, layout: Layout) -> Machine:
        others = claims(layout, boot_id())
        mounts = {
            mount.point for mount in parse_mounts(Path("/proc/self/mountinfo").read_text().splitlines())
        }
        links = {link["ifname"] for link in json.loads(output("ip", "-j", "link"))}
        routes = set(output("ip", "route", "show", "table", "all").splitlines())
        netns = Path("/run/netns")
        namespaces = {path.name for path in netns.iterdir()} if netns.is_dir() else set()
        cgroups = {path.name for root in cgroup_roots() for path in root.glob("skerry-*")}
        rules = output("nft", "list", "ruleset") + output("iptables-save")
        others += claims(layout, boot_id())  # before and after: one may have come or gone
        own_links = {f"skerry{claim.slot}" for claim in others}
        names = {f"skerry-{claim.name}" for claim in others}
        runs = tuple(f"{layout.run}/{claim.name}/" for claim in others)
        return cls(
            mounts=frozenset(
                point
                for point in mounts
                if not point.startswith(runs)
                and Path(point).name not in names
                and not _FOREIGN_MOUNTS.match(point)
            ),
            links=frozenset(links - own_links),
            routes=frozenset(route for route in routes if not own_links & set(route.split())),
            namespaces=frozenset(namespaces - names),
            cgroups=frozenset(cgroups - names),
            firewall="\n".join(line for line in rules.splitlines() if not line.startswith(("#", ":"))),
        )


class Instance:
    """A named instance with a state directory of its own."""

    def __init__(self, state_home: Path) -> None:
        self.name = f"t-{uuid.uuid4().hex[:8]}"
        self.env = {**os.environ, "XDG_STATE_HOME": str(state_home)}
        self.layout = layout_from(self.env, Path.home())
        self.paths = self.layout.instance(self.name)

    def argv(self, *words: str) -> list[str]:
        return [COMMAND, words[0], "--name", self.name, *words[1:]]

    def run(self, *words: str, code: int = 0) -> str:
        """Standard output of `skerry-dev WORD --name … WORDS`."""
        done = subprocess.run(self.argv(*words), env=self.env, capture_output=True, text=True, check=False)
        assert done.returncode == code, f"{words}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.argv(*words), env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def kubectl(self, *words: str) -> str:
        return self.run("kubectl", *words)

    def status(self) -> dict[str, Any]:
        """Its own words about itself, whatever the exit code."""
        done = subprocess.run(
            self.argv("status", "-o", "json"), env=self.env, capture_output=True, text=True, check=False
        )
        document: dict[str, Any] = json.loads(done.stdout)
        return document

    def ledger(self) -> Ledger:
        return Ledger(self.paths.ledger, boot_id())

    def network_namespace(self) -> int:
        return self.paths.netns.stat().st_ino

    def kill_when(self, written: Callable[[str], bool], *words: str) -> None:
        """Run a command and kill -9 it as soon as its ledger reads so."""
        process = self.start(*words)
        while process.poll() is None:
            if self.paths.ledger.exists() and written(self.paths.ledger.read_text()):
                break
            time.sleep(0.001)  # nothing announces a line in a file
        assert process.poll() is None, "the command ended before the moment came"
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL

    def traces(self, namespace: int | None = None) -> list[str]:
        """Living processes that are, by any sign, of this instance."""
        proc, found = Proc(), []
        for pid in proc.pids():
            process = proc.get(pid)
            if pid == os.getpid() or process is None or not process.alive:
                continue
            try:
                words = (
                    Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                )
                inside = Path(f"/proc/{pid}/ns/net").stat().st_ino == namespace
                cgroup = Path(f"/proc/{pid}/cgroup").read_text()
            except OSError:
                continue
            if (
                inside
                or str(self.paths.state) in words
                or str(self.paths.run) in words
                or self.name in cgroup
            ):
                found.append(f"{pid} {words}")
        return found

    def running(self, component: str) -> Resource | None:
        proc = Proc()
        return next((entry for entry in self.ledger().processes(component) if proc.running(entry)), None)


@pytest.fixture
def machine() -> Callable[[], Machine]:
    layout = layout_from(os.environ, Path.home())
    return lambda: Machine.look(layout)


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    """A fresh name; whatever the test leaves is taken down, and that must work too."""
    made = Instance(tmp_path)
    yield made
    made.run("down", "--wipe")
    assert made.traces() == []
    assert not made.paths.run.exists()
    assert not made.paths.state.exists()


@pytest.fixture
def another(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    made = Instance(tmp_path_factory.mktemp("another"))
    yield made
    made.run("down", "--wipe")
    assert made.traces() == []


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """A full cluster for the tests of one file."""
    made = Instance(tmp_path_factory.mktemp("full"))
    made.run("up")
    yield made
    made.run("down", "--wipe")
    assert made.traces() == []
