"""`skerry artifacts` against a stand-in for kubectl: listing, fetching, what can't be had, nothing left behind."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skerry_api.names import sandbox_id, state_volume_name
from skerry_api.report import RunArtifact
from skerry_cli.artifacts import local_path
from skerry_cli.reader import reader_pod

Json = dict[str, Any]
OUTPUTS = "/mnt/user-data/outputs"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def artifact(path: str, data: bytes = b"data", *, available: bool = True, **more: Any) -> Json:
    facts = {"path": path, "size": len(data), "mediaType": "text/plain", "sha256": digest(data)}
    return facts | {"available": available} | more


@dataclass
class Stand:
    """A kubectl that knows one run, its Pod and the files of its volume, and notes what it was asked."""

    folder: Path

    def run(self, *artifacts: Json) -> None:
        run = {
            "apiVersion": "skerry.dev/v1alpha1", "kind": "AgentRun",
            "metadata": {"name": "hello", "namespace": "runs", "uid": "u-1", "resourceVersion": "1", "generation": 1},
            "spec": {"profileRef": {"name": "p"}, "prompt": "x", "threadId": "t"},
            "status": {"podName": "hello-1", "runner": {"epoch": 1, "podUID": "p", "artifacts": list(artifacts)}},
        }  # fmt: skip
        (self.folder / "run").write_text(json.dumps(run))
        pod = {"spec": {"containers": [{"image": "runner:7"}]}}
        (self.folder / "pod").write_text(json.dumps(pod))

    def keep(self, name: str, data: bytes) -> None:
        kept = self.folder / "state/artifacts/u-1"
        kept.mkdir(parents=True, exist_ok=True)
        (kept / name).write_bytes(data)

    def skerry(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        script = self.folder / "kubectl"
        script.write_text(
            f"""#!/bin/bash
cd {self.folder}
echo "$*" >>asked
case "$*" in
  *"get agentrun hello"*) cat run ;;
  *"get pod hello-1"*) cat pod ;;
  *"create --filename=-"*) cat >made; cat made ;;
  *"wait --for=condition=Ready"*) [ ! -e never-ready ] || {{ echo "timed out" >&2; exit 1; }} ;;
  *"exec pod/hello-read-"*) cat "${{@: -1:1}}" 2>/dev/null || {{ echo "no such file" >&2; exit 1; }} ;;
  *"delete --wait=false pod/hello-read-"*) touch deleted ;;
  *) echo "unexpected: $*" >&2; exit 1 ;;
esac
""".replace('cat "${@: -1:1}"', 'cat ".${@: -1:1}"')
        )
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        command = [sys.executable, "-m", "skerry_cli", "artifacts", *arguments]
        env = {**os.environ, "SKERRY_KUBECTL": str(script)}
        return subprocess.run(command, capture_output=True, text=True, timeout=180, check=False, env=env)


@pytest.fixture
def stand(tmp_path: Path) -> Stand:
    return Stand(tmp_path)


def test_a_list_says_what_is_kept(stand: Stand) -> None:
    stand.run(artifact(f"{OUTPUTS}/a"), artifact(f"{OUTPUTS}/big", available=False, sha256=None))
    done = stand.skerry("hello")
    assert done.returncode == 0
    first, second = (line.split("\t") for line in done.stdout.splitlines())
    assert first == [f"{OUTPUTS}/a", "4", "text/plain", digest(b"data"), "kept"]
    assert second[3:] == ["-", "not kept"]
    listed = json.loads(stand.skerry("hello", "-o", "json").stdout)
    assert [each["available"] for each in listed] == [True, False]
    assert not (stand.folder / "made").exists()


def test_copies_are_fetched_checked_and_the_pod_taken_away(stand: Stand) -> None:
    stand.run(artifact(f"{OUTPUTS}/a.txt", b"one"), artifact(f"{OUTPUTS}/d/b", b"\x00\xff\n"))
    stand.keep(digest(b"one"), b"one")
    stand.keep(digest(b"\x00\xff\n"), b"\x00\xff\n")
    to = stand.folder / "to"
    done = stand.skerry("hello", "--to", str(to), "-n", "runs", "--context", "c")
    assert (done.returncode, done.stderr) == (0, "")
    assert (to / "a.txt").read_bytes() == b"one"
    assert (to / "d/b").read_bytes() == b"\x00\xff\n"
    assert done.stdout.splitlines() == [str(to / "a.txt"), str(to / "d/b")]
    made = json.loads((stand.folder / "made").read_text())
    claim = made["spec"]["volumes"][0]["persistentVolumeClaim"]
    assert claim == {"claimName": state_volume_name(sandbox_id("runs", "default", "t")), "readOnly": True}
    assert made["spec"]["containers"][0]["image"] == "runner:7"
    assert (stand.folder / "deleted").exists()
    asked = (stand.folder / "asked").read_text().splitlines()
    assert all(line.startswith("--context=c --namespace=runs ") for line in asked)


def test_what_cannot_be_had_is_said_and_the_rest_fetched(stand: Stand) -> None:
    stand.run(
        artifact(f"{OUTPUTS}/lost", b"lost"),
        artifact(f"{OUTPUTS}/changed", b"before"),
        artifact(f"{OUTPUTS}/never", available=False),
        artifact("/etc/passwd"),
        artifact(f"{OUTPUTS}/../../x"),
        artifact(f"{OUTPUTS}/good", b"good"),
    )
    stand.keep(digest(b"before"), b"after")
    stand.keep(digest(b"good"), b"good")
    to = stand.folder / "to"
    done = stand.skerry("hello", "--to", str(to))
    assert done.returncode == 1
    assert sorted(line.partition(": ")[0] for line in done.stderr.splitlines()) == sorted(
        ["/etc/passwd", f"{OUTPUTS}/../../x", *(f"{OUTPUTS}/{name}" for name in ("changed", "lost", "never"))]
    )
    assert [each.name for each in to.iterdir()] == ["good"]
    assert (stand.folder / "deleted").exists()


def test_of_nothing_presented_nothing_is_fetched_and_that_is_said(stand: Stand) -> None:
    stand.run()
    done = stand.skerry("hello", "--to", str(stand.folder / "to"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "AgentRun hello presented no files\n")


def test_a_pod_that_does_not_start_is_taken_away_too(stand: Stand) -> None:
    stand.run(artifact(f"{OUTPUTS}/a"))
    (stand.folder / "never-ready").touch()
    done = stand.skerry("hello", "--to", str(stand.folder / "to"))
    assert (done.returncode, done.stderr) == (2, "skerry: timed out\n")
    assert (stand.folder / "deleted").exists()


def test_an_image_is_asked_for_where_the_run_s_pod_is_gone(stand: Stand) -> None:
    stand.run(artifact(f"{OUTPUTS}/a"))
    stand.keep(digest(b"data"), b"data")
    (stand.folder / "pod").unlink()
    done = stand.skerry("hello", "--to", str(stand.folder / "to"))
    assert (done.returncode, "--image" in done.stderr) == (2, True)
    assert stand.skerry("hello", "--to", str(stand.folder / "to"), "--image", "mine:1").returncode == 0
    assert json.loads((stand.folder / "made").read_text())["spec"]["containers"][0]["image"] == "mine:1"


@pytest.mark.parametrize(
    ("path", "where"),
    [
        (f"{OUTPUTS}/a/b.txt", "a/b.txt"),
        (OUTPUTS, None),
        (f"{OUTPUTS}/../x", None),
        (f"{OUTPUTS}/a/../../x", None),
        ("/mnt/user-data/outputs2/x", None),
        ("relative", None),
    ],
)
def test_only_paths_below_the_outputs_are_written(path: str, where: str | None) -> None:
    found = local_path(RunArtifact.model_validate(artifact(path)))
    assert (str(found) if found else None) == where


def test_the_reader_fits_the_restricted_profile() -> None:
    spec = reader_pod("r", "ns", "claim", "image")["spec"]
    [container] = spec["containers"]
    assert spec["securityContext"]["runAsNonRoot"]
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert spec["automountServiceAccountToken"] is False
