"""Reading the machine's own tables."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from ipaddress import IPv4Network

from skerry_devcluster.host import Mount, parse_mounts, parse_routes, started_at
from skerry_devcluster.procs import Proc

MOUNTINFO = r"""27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
44 27 254:0 /run/x /run/with\040blank rw shared:3 master:1 - ext4 /dev/vda rw
93 44 0:4 mnt:[4026532319] /run/x/mnt rw - nsfs nsfs rw
30 24 0:26 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
"""


def test_mounts() -> None:
    assert parse_mounts(MOUNTINFO.splitlines()) == [
        Mount("/", "ext4", "/dev/vda", ("rw", "discard")),
        Mount("/run/with blank", "ext4", "/dev/vda", ("rw",)),
        Mount("/run/x/mnt", "nsfs", "nsfs", ("rw",)),
        Mount("/sys/fs/cgroup/pids", "cgroup", "cgroup", ("rw", "pids")),
    ]


def test_routes() -> None:
    listed = [
        {"dst": "default", "gateway": "192.0.2.1", "dev": "eth0"},
        {"dst": "198.18.0.0/24", "dev": "skerry0"},
        {"dst": "10.1.2.3", "dev": "tun0"},
        {"type": "blackhole", "dst": "198.18.0.0/15"},
    ]
    assert parse_routes(json.dumps(listed)) == [
        (IPv4Network("0.0.0.0/0"), "eth0"),
        (IPv4Network("198.18.0.0/24"), "skerry0"),
        (IPv4Network("10.1.2.3/32"), "tun0"),
        (IPv4Network("198.18.0.0/15"), ""),
    ]
    assert parse_routes("") == []


def test_a_process_start_is_a_time_of_day() -> None:
    before = time.time()
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    found = Proc().get(child.pid)
    child.communicate(b"\n")
    assert found is not None
    # the boot time is kept in whole seconds, and clocks are set while machines run
    assert before - 5 < started_at(found) < time.time() + 5
