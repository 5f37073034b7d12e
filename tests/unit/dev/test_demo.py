"""The demo's parts: what a watcher is told, where images go, and following a run through real processes."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml

from demo.follow import Follower, objects
from demo.install import chart_values
from demo.story import is_over, pod_to_read, told
from demo.target import DemoFailed, Target, existing, loader_for, parse_status
from skerry_api.phases import RunPhase

ROOT = Path(__file__).resolve().parents[3]
Json = dict[str, Any]
STATUS = {
    "name": "demo", "kubeconfig": "/k", "kubectl": "/bin/kubectl", "helm": "/bin/helm", "registryPush": "198.18.255.2:5000",
    "registryPull": "localhost:5000", "podCIDR": "198.18.0.0/24", "serviceCIDR": "198.19.0.0/20", "hostAddress": "198.18.255.1",
}  # fmt: skip


def _run(**status: Any) -> Json:
    return {"metadata": {"name": "hello"}, "status": status}


def _ready(message: str) -> list[Json]:
    return [{"type": "Ready", "status": "True", "message": message}]


@pytest.mark.parametrize(
    ("before", "now", "lines"),
    [
        (None, {"metadata": {"name": "hello"}}, []),
        (None, _run(phase="Provisioning", epoch=1), ["Provisioning"]),
        (
            _run(phase="Provisioning"),
            _run(phase="Running", conditions=_ready("Pod a runs")),
            ["Running: Pod a runs"],
        ),
        (_run(phase="Running", epoch=1), _run(phase="Running", epoch=1), []),
        (_run(phase="Running", epoch=1), _run(phase="Running", epoch=2), ["Running: epoch 2"]),
        (
            _run(phase="Running"),
            _run(phase="Running", runner={"sandboxRequest": {"epoch": 1}}),
            ["the agent needs a sandbox: the runner asks for one"],
        ),
        (
            _run(phase="Running", sandbox={"name": "s", "state": "Pending"}),
            _run(phase="Running", sandbox={"name": "s", "state": "Ready", "replacements": 2}),
            ["sandbox s: Ready, replaced 2×"],
        ),
        (
            _run(phase="Running"),
            _run(phase="Failed", failure={"class": "PodLost", "message": "gone"}),
            ["Failed: PodLost: gone"],
        ),
        (
            None,
            _run(phase="Queued", queue={"reason": "ThreadBusy", "position": 3}),
            ["Queued: ThreadBusy, position 3"],
        ),
    ],
)
def test_a_watcher_is_told_what_has_changed(before: Json | None, now: Json, lines: list[str]) -> None:
    assert told(before, now) == lines


@pytest.mark.parametrize("phase", list(RunPhase))
def test_only_a_terminal_phase_is_the_end(phase: RunPhase) -> None:
    assert is_over(_run(phase=phase.value)) == (
        phase.value in {"Succeeded", "Failed", "TimedOut", "Cancelled"}
    )


def test_a_log_is_read_when_there_is_one() -> None:
    assert pod_to_read({}) is None
    assert pod_to_read(_run(phase="Provisioning", podName="p")) is None
    assert pod_to_read(_run(phase="Running", podName="p")) == "p"
    assert pod_to_read(_run(phase="Failed", podName="p", runner={"outcome": {"class": "AppError"}})) == "p"
    assert pod_to_read(_run(phase="Failed", podName="p")) is None


def test_objects_come_one_by_one_out_of_a_watch() -> None:
    text = json.dumps({"a": {"b": 1}}, indent=4) + "\n" + json.dumps({"c": 2}, indent=4) + "\n"
    assert list(objects(text.splitlines(keepends=True))) == [{"a": {"b": 1}}, {"c": 2}]
    assert list(objects(["{\n", '"half": 1\n'])) == []


@pytest.mark.parametrize(
    ("context", "command"),
    [
        ("kind-dev", ("kind", "load", "image-archive", "--name", "dev")),
        ("kind-my-dev", ("kind", "load", "image-archive", "--name", "my-dev")),
        ("k3d-dev", ("k3d", "image", "import", "--cluster", "dev")),
        ("minikube", ("minikube", "image", "load")),
        ("production", None),
        ("kindergarten", None),
    ],
)
def test_local_clusters_load_archives_by_their_own_tool(
    context: str, command: tuple[str, ...] | None
) -> None:
    assert loader_for(context) == command


def test_a_cluster_without_a_way_for_images_is_refused_before_anything_is_done() -> None:
    with pytest.raises(DemoFailed, match="REGISTRY="):
        existing("production", None)


def test_a_missing_tool_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DemoFailed, match="kubectl is not on the PATH"):
        existing("production", "registry.example")


def test_the_embedded_cluster_is_used_by_its_own_kubeconfig_alone() -> None:
    target = parse_status(STATUS)
    assert target.kubectl == ("/bin/kubectl", "--kubeconfig", "/k")
    assert target.helm == ("/bin/helm", "--kubeconfig", "/k")
    assert (target.registry_push, target.registry_pull, target.tls) == (
        "198.18.255.2:5000",
        "localhost:5000",
        False,
    )


def test_the_charts_values_are_ones_that_it_knows() -> None:
    images = {name: {"tag": name[0]} for name in ("operator", "runner", "sandbox")}
    values = chart_values(parse_status(STATUS), images, "runs")
    defaults = yaml.safe_load((ROOT / "charts/skerry/values.yaml").read_text(encoding="utf-8"))
    assert set(values) <= set(defaults)
    assert set(values["images"]) <= set(defaults["images"])
    assert values["images"]["runner"] == {"tag": "r"}
    assert values["runNamespaces"] == [{"name": "runs", "create": True}]
    assert values["clusterCIDRs"] == ["198.18.0.0/24", "198.19.0.0/20"]


def _kubectl(folder: Path, watches: list[list[Json]], log: list[str]) -> Target:
    """A stand-in for kubectl: each watch shows the next list of objects and ends, a log is the lines given."""
    for number, shown in enumerate(watches):
        (folder / f"watch-{number}").write_text("".join(json.dumps(each, indent=4) + "\n" for each in shown))
    (folder / "log").write_text("".join(f"{line}\n" for line in log))
    script = folder / "kubectl"
    script.write_text(
        f"""#!/bin/bash
cd {folder}
case "$*" in
  *"get agentrun hello --watch"*)
    number=$(cat count 2>/dev/null || echo 0); echo $((number + 1)) >count
    cat watch-$number 2>/dev/null || exec sleep 60 ;;
  *"logs --follow hello-1"*) cat log ;;
  *) exit 1 ;;
esac
"""
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return Target(kubectl=(str(script),), helm=(), hint="kubectl")


EVENTS = [
    json.dumps({"type": "tool.call", "name": "bash", "args": '{"command": "ls"}'}),
    json.dumps({"type": "tool.result", "status": "success", "content": "a file"}),
    "Traceback: not a journal line",
]


def test_a_run_is_followed_through_a_watch_that_breaks_off(tmp_path: Path) -> None:
    running = _run(phase="Running", podName="hello-1")
    target = _kubectl(
        tmp_path,
        [
            [_run(phase="Provisioning", podName="hello-1")],
            [running, running],
            [_run(phase="Succeeded", podName="hello-1")],
        ],
        EVENTS,
    )
    said: list[str] = []
    end = Follower(target, "runs", "hello", said.append).follow(30)
    assert end["status"]["phase"] == "Succeeded"
    assert [line for line in said if not line.startswith(" ")] == ["Provisioning", "Running", "Succeeded"]
    assert [line.strip() for line in said if line.startswith(" ")] == [
        '→ bash {"command": "ls"}',
        "← a file",
        "Traceback: not a journal line",
    ]


def test_a_run_that_does_not_end_is_given_up_with_its_state(tmp_path: Path) -> None:
    target = _kubectl(tmp_path, [[_run(phase="Queued")]], [])
    with pytest.raises(DemoFailed, match="Queued"):
        Follower(target, "runs", "hello", lambda _: None).follow(1)
