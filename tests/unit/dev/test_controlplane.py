"""Who of several test processes brings the shared control plane up and down; with a stand-in for skerry-dev."""

from __future__ import annotations

import base64
import os
import ssl
import subprocess
import sys
from pathlib import Path

import pytest

from skerry_testing.access import Access
from skerry_testing.controlplane import KUBECONFIG_ENV, ControlPlane, control_plane

DEV = """#!/bin/sh
echo "$*" >> {log}
case "$1" in
  kubeconfig) echo {kubeconfig};;
  up) {up};;
esac
"""


class Dev:
    """A `skerry-dev` that only writes down how it was called."""

    def __init__(self, folder: Path, up: str = ":") -> None:
        self.path = folder / "skerry-dev"
        self.marks = folder / "marks"
        self._log = folder / "log"
        self._log.touch()
        self.path.write_text(DEV.format(log=self._log, kubeconfig=a_kubeconfig(folder), up=up))
        self.path.chmod(0o755)

    def calls(self) -> list[str]:
        return [line.split()[0] for line in self._log.read_text().splitlines()]


def a_kubeconfig(folder: Path) -> Path:
    """Files in a kubeconfig's two forms: beside it, and within."""
    crt, key = folder / "c.crt", folder / "c.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-subj", "/CN=t", "-days", "2", "-out", crt, "-keyout", key],
        check=True, capture_output=True,
    )  # fmt: skip
    data = base64.b64encode(crt.read_bytes()).decode()
    path = folder / "kubeconfig"
    path.write_text(
        f"""
current-context: x
contexts: [{{name: y}}, {{name: x, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: "https://192.0.2.1:6443", certificate-authority-data: {data}}}}}]
users: [{{name: u, user: {{client-certificate: c.crt, client-key: c.key}}}}]
"""
    )
    return path


@pytest.fixture(autouse=True)
def _no_server_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KUBECONFIG_ENV, raising=False)


def test_up_use_down(tmp_path: Path) -> None:
    dev = Dev(tmp_path)
    with control_plane("one", dev.path, dev.marks) as plane:
        assert plane.access.server == "https://192.0.2.1:6443"
        plane.restart()
        assert dev.calls() == ["up", "kubeconfig", "restart"]
    assert dev.calls()[-1] == "down"


def test_the_last_user_takes_it_down(tmp_path: Path) -> None:
    dev = Dev(tmp_path)
    users = dev.marks / "one" / "users"
    with control_plane("one", dev.path, dev.marks):
        start = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
        (mine,) = users.iterdir()
        assert mine.name == f"{os.getpid()}-{start}"
        with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
            stat = Path(f"/proc/{other.pid}/stat").read_text().rpartition(")")[2].split()[19]
            mark = users / f"{other.pid}-{stat}"
            mark.touch()
            with control_plane("one", dev.path, dev.marks):
                pass
            assert "down" not in dev.calls()
            other.communicate(b"\n")
    assert dev.calls()[-1] == "down"
    assert list(users.iterdir()) == []


def test_marks_of_killed_processes_do_not_count(tmp_path: Path) -> None:
    dev = Dev(tmp_path)
    users = dev.marks / "one" / "users"
    users.mkdir(parents=True)
    (users / f"{os.getppid()}-1").touch()  # The pid lives, but it is another process by now.
    with control_plane("one", dev.path, dev.marks):
        pass
    assert dev.calls() == ["up", "kubeconfig", "down"]


def test_it_goes_down_after_a_failing_test(tmp_path: Path) -> None:
    dev = Dev(tmp_path)
    with pytest.raises(ZeroDivisionError), control_plane("one", dev.path, dev.marks):
        raise ZeroDivisionError
    assert dev.calls()[-1] == "down"


def test_a_failing_start_says_why(tmp_path: Path) -> None:
    dev = Dev(tmp_path, up="echo no etcd here >&2; exit 3")
    with (
        pytest.raises(RuntimeError, match=r"(?s)up --control-plane-only --name one failed.*no etcd here"),
        control_plane("one", dev.path, dev.marks),
    ):
        raise AssertionError("unreachable")
    assert list((dev.marks / "one" / "users").iterdir()) == []


def test_a_missing_program_says_so(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="No such file"), control_plane("one", tmp_path / "none", tmp_path):
        raise AssertionError("unreachable")


def test_a_server_from_outside_is_used_and_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dev = Dev(tmp_path)
    monkeypatch.setenv(KUBECONFIG_ENV, str(tmp_path / "kubeconfig"))
    with (
        control_plane("one", dev.path, dev.marks) as plane,
        pytest.raises(RuntimeError, match="can't be restarted"),
    ):
        plane.restart()
    assert dev.calls() == []


def test_a_token_leaves_the_certificate_at_home(tmp_path: Path) -> None:
    access = Access.from_kubeconfig(a_kubeconfig(tmp_path))
    assert access.with_token("t").token == "t"
    assert access.ca_pem.startswith("-----BEGIN CERTIFICATE")
    assert access.anonymous_tls.verify_mode is ssl.CERT_REQUIRED
    assert isinstance(ControlPlane(access, None, tmp_path).access.kubeconfig, Path)
