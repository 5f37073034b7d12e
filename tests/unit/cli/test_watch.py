"""`skerry watch` against a stand-in for kubectl and the real stream: live, from the log, and from one to the other."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from skerry_cli.kubectl import Kubectl, KubectlError, objects
from skerry_cli.sse import ServerSentEvent, server_sent_events, stream_lines
from skerry_cli.watch import Watcher
from skerry_runner.stream.buffer import EventBuffer
from skerry_runner.stream.server import serve_stream
from skerry_testing.eventually import eventually

Json = dict[str, Any]
PATIENCE = 120


def run(**status: Any) -> Json:
    return {"metadata": {"name": "hello"}, "status": status}


def called(seq: int) -> bytes:
    return json.dumps({"seq": seq, "type": "tool.call", "name": "bash", "args": str(seq)}).encode() + b"\n"


@dataclass
class Stand:
    """A kubectl of its own: each watch shows the next list of states and ends, then waits; `get` shows the last."""

    folder: Path
    said: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def states(self, *watches: Iterable[Json]) -> None:
        for number, shown in enumerate(watches):
            text = "".join(json.dumps(each, indent=4) + "\n" for each in shown)
            (self.folder / f"watch-{number}").write_text(text)
        (self.folder / "get").write_text(json.dumps(list(watches[-1])[-1]))

    def log(self, *lines: bytes) -> None:
        (self.folder / "log").write_bytes(b"".join(lines))

    def stream(self, port: int) -> None:
        (self.folder / "port").write_text(str(port))

    def watcher(self, *, as_json: bool = False) -> Watcher:
        script = self.folder / "kubectl"
        script.write_text(
            f"""#!/bin/bash
cd {self.folder}
case "$*" in
  *"get agentrun hello --watch"*)
    number=$(cat count 2>/dev/null || echo 0); echo $((number + 1)) >count
    cat watch-$number 2>/dev/null || exec sleep 60 ;;
  *"get agentrun hello --output=json"*) cat get || {{ echo "not found" >&2; exit 1; }} ;;
  *"port-forward"*"pod/hello-1 :8091"*)
    [ -e port ] || {{ echo "pod is not running" >&2; exit 1; }}
    echo "Forwarding from 127.0.0.1:$(cat port) -> 8091"; exec sleep 60 ;;
  *"logs --follow hello-1"*) touch log-was-read; cat log || exit 1 ;;
  *) exit 1 ;;
esac
"""
        )
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        kubectl = Kubectl((str(script),), "runs")
        return Watcher(kubectl, "hello", self.said.append, self.told.append, as_json=as_json)

    @property
    def log_was_read(self) -> bool:
        return (self.folder / "log-was-read").exists()


@pytest.fixture
def stand(tmp_path: Path) -> Stand:
    return Stand(tmp_path)


RUNNING, SUCCEEDED = run(phase="Running", podName="hello-1"), run(phase="Succeeded", podName="hello-1")


async def follow(watcher: Watcher) -> Json:
    async with asyncio.timeout(PATIENCE):
        return await watcher.follow()


async def test_a_run_is_followed_by_its_log_through_a_watch_that_breaks_off(stand: Stand) -> None:
    stand.states([run(phase="Provisioning", podName="hello-1")], [RUNNING, RUNNING], [SUCCEEDED])
    stand.log(called(1), b"Traceback: not a journal line\n")
    end = await follow(stand.watcher())
    assert end["status"]["phase"] == "Succeeded"
    assert [line for line in stand.said if not line.startswith(" ")] == [
        "Provisioning",
        "Running",
        "Succeeded",
    ]
    assert [line.strip() for line in stand.said if line.startswith(" ")] == [
        "→ bash 1",
        "Traceback: not a journal line",
    ]


async def test_a_live_stream_is_read_and_the_log_left_alone(stand: Stand) -> None:
    stand.states([RUNNING, SUCCEEDED])
    buffer = EventBuffer()
    for seq in (1, 2, 3):
        buffer.write(called(seq))
    async with serve_stream(buffer, 0) as port:
        assert port is not None
        stand.stream(port)
        buffer.close()
        await follow(stand.watcher(as_json=True))
    assert [json.loads(line)["seq"] for line in stand.said] == [1, 2, 3]
    assert stand.told == ["Running", "Succeeded"], "stdout is the journal's"
    assert not stand.log_was_read


@pytest.mark.parametrize("kept", [10_000, 70])
async def test_what_the_stream_lacks_comes_from_the_log_once(stand: Stand, kept: int) -> None:
    """It breaks off before its end, or has dropped its first lines."""
    stand.states([RUNNING, SUCCEEDED])
    stand.log(*(called(seq) for seq in range(1, 6)))
    buffer = EventBuffer(kept_bytes=kept)
    for seq in (1, 2, 3):
        buffer.write(called(seq))
    async with serve_stream(buffer, 0) as port:
        assert port is not None
        stand.stream(port)
        watching = asyncio.create_task(follow(stand.watcher(as_json=True)))
        await eventually(lambda: kept < 100 or len(stand.said) == 3)
    await watching
    buffer.close()
    assert [json.loads(line)["seq"] for line in stand.said] == [1, 2, 3, 4, 5]


async def test_json_is_the_journal_and_the_rest_of_the_log_stands_aside(stand: Stand) -> None:
    stand.states([RUNNING, SUCCEEDED])
    stand.log(b'{"level": "warning", "message": "slow"}\n', called(1))
    await follow(stand.watcher(as_json=True))
    assert [json.loads(line)["seq"] for line in stand.said] == [1]
    assert '{"level": "warning", "message": "slow"}' in stand.told


async def test_a_journal_that_is_nowhere_is_said_and_the_end_still_told(stand: Stand) -> None:
    stand.states([RUNNING, SUCCEEDED])
    await follow(stand.watcher())
    assert stand.said == ["Running", "Succeeded"]
    assert stand.told[0].startswith("the journal of hello-1: ")


async def test_a_run_that_is_not_there_is_an_error(stand: Stand) -> None:
    with pytest.raises(KubectlError, match="not found"):
        await follow(stand.watcher())


async def test_no_kubectl_at_all_is_an_error(tmp_path: Path) -> None:
    kubectl = Kubectl((str(tmp_path / "nothing"),))
    with pytest.raises(KubectlError, match="nothing: No such file"):
        await kubectl.json("get", "agentrun", "x")


def skerry(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "skerry_cli", "watch", *arguments]
    env = {**os.environ, **environ}
    return subprocess.run(command, capture_output=True, text=True, timeout=180, check=False, env=env)


def test_the_command_ends_as_the_run_did(stand: Stand) -> None:
    stand.states([RUNNING, SUCCEEDED])
    stand.log(called(1))
    program = stand.watcher().kubectl.command[0]
    done = skerry("hello", "-n", "runs", "-o", "json", SKERRY_KUBECTL=program)
    assert (done.returncode, json.loads(done.stdout)["seq"]) == (0, 1)
    (stand.folder / "count").unlink()
    stand.states(
        [RUNNING, run(phase="Failed", podName="hello-1", failure={"class": "AppError", "message": "no"})]
    )
    done = skerry("hello", SKERRY_KUBECTL=program)
    assert (done.returncode, "Failed: AppError: no" in done.stdout.splitlines()) == (1, True)


def test_a_command_without_kubectl_is_bad_input(tmp_path: Path) -> None:
    done = skerry("hello", PATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (
        2,
        "skerry: kubectl is not on the PATH; SKERRY_KUBECTL may name it\n",
    )


async def lines_of(text: str) -> Any:
    for line in text.splitlines():
        yield line


async def test_server_sent_events_come_whole() -> None:
    text = ': c\n\nid: 1\ndata: {"a": ": b"}\n\nevent: end\ndata: {}\n\nretry: 3\n\nid: 2\ndata: cut'
    assert [event async for event in server_sent_events(lines_of(text))] == [
        ServerSentEvent('{"a": ": b"}', id="1"),
        ServerSentEvent("{}", event="end"),
    ]


async def test_lines_end_at_line_feeds_only() -> None:
    async def parts() -> Any:
        for part in ("one\u2028\x85 li".encode(), b"ne\r\n\nth", b"ree\nnever ended"):
            yield part

    assert [line async for line in stream_lines(parts())] == ["one\u2028\x85 line", "", "three"]


async def test_objects_come_one_by_one_out_of_a_watch() -> None:
    text = json.dumps({"a": {"b": 1}}, indent=4) + "\n" + json.dumps({"c": 2}, indent=4) + '\n{\n"half": 1'

    async def raw() -> Any:
        for line in text.encode().splitlines():
            yield line

    assert [each async for each in objects(raw())] == [{"a": {"b": 1}}, {"c": 2}]
