"""`skerry run` as a person meets it: a real process, its exit code, what it prints where."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

RUN = """\
apiVersion: skerry.dev/v1alpha1
kind: AgentRun
metadata: {name: r}
spec:
  profileRef: {name: p}
  prompt: hi
"""
PROFILE = """\
apiVersion: skerry.dev/v1alpha1
kind: AgentProfile
metadata: {name: p}
spec:
  model: {name: scripted}
  sandbox: {allowLocalBash: %s}
"""
WORK = """\
steps:
- toolCalls:
  - {name: write_file, args: {path: /mnt/user-data/workspace/a.txt, content: "from the agent"}}
- toolCalls: [{name: read_file, args: {path: /mnt/user-data/workspace/a.txt}}]
  expect: {lastRole: tool}
- expect: {contains: ["from the agent"]}
  say: all done
"""
SLEEP = """\
steps:
- toolCalls: [{name: bash, args: {command: "echo up > $PWD/up; exec sleep 600"}}]
- say: never
"""
PATIENCE = 180


class Laptop:
    """A folder with a run, a profile and a data directory."""

    def __init__(self, folder: Path, *, bash: bool = False) -> None:
        self.folder = folder
        (folder / "run.yaml").write_text(RUN)
        (folder / "profile.yaml").write_text(PROFILE % str(bash).lower())

    def command(self, script: str, *options: str) -> list[str]:
        (self.folder / "script.yaml").write_text(script)
        given = [
            "-f",
            "run.yaml",
            "-f",
            "profile.yaml",
            "--script",
            "script.yaml",
            "--data-dir",
            "data",
            *options,
        ]
        return [sys.executable, "-m", "skerry_cli", "run", *given]

    def run(self, script: str, *options: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(script, *options), cwd=self.folder, input=stdin, capture_output=True, text=True,
            timeout=PATIENCE, check=False, env=_env(),
        )  # fmt: skip

    @contextmanager
    def running(self, script: str, *options: str) -> Iterator[subprocess.Popen[str]]:
        """A run that is at work in its sandbox."""
        with subprocess.Popen(
            self.command(script, *options), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=_env(),
        ) as process:  # fmt: skip
            try:
                _await(lambda: list(self.folder.glob("data/threads/*/user-data/workspace/up")), process)
                yield process
            finally:
                process.kill()

    def journal(self) -> list[dict[str, Any]]:
        (path,) = self.folder.glob("data/threads/*/journal.jsonl")
        return [json.loads(line) for line in path.read_text().splitlines()]


def _env() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith("SKERRY_")}


def _await(holds: Any, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def laptop(tmp_path: Path) -> Laptop:
    return Laptop(tmp_path)


@pytest.fixture
def bash_laptop(tmp_path: Path) -> Laptop:
    return Laptop(tmp_path, bash=True)


def test_text_puts_the_answer_on_stdout_and_progress_on_stderr(laptop: Laptop) -> None:
    done = laptop.run(WORK)
    assert (done.returncode, done.stdout) == (0, "all done\n"), done.stderr
    assert "→ write_file" in done.stderr
    assert "Succeeded (EndTurn)" in done.stderr
    (written,) = laptop.folder.glob("data/threads/*/user-data/workspace/a.txt")
    assert written.read_text() == "from the agent"
    assert f"files: {Path('data') / written.relative_to(laptop.folder / 'data').parents[1]}" in done.stderr
    journal = laptop.journal()
    assert [line["seq"] for line in journal] == list(range(1, len(journal) + 1))
    assert [line["type"] for line in journal].count("run.end") == 1


@pytest.mark.parametrize(("output", "load"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_the_run_with_its_final_status_goes_to_stdout(laptop: Laptop, output: str, load: Any) -> None:
    done = laptop.run(WORK, "-o", output)
    assert (done.returncode, done.stderr) == (0, "")
    run = load(done.stdout)
    status = run["status"]
    assert (run["kind"], run["metadata"]["name"], status["phase"]) == ("AgentRun", "r", "Succeeded")
    assert (status["runner"]["answer"], status["runner"]["progress"]["toolCalls"]) == ("all done", 2)
    assert status["sandboxId"] == status["sandbox"]["name"]
    assert {c["type"]: c["status"] for c in status["conditions"]} == {
        "Ready": "True", "Reconciling": "False", "Stalled": "False", "Succeeded": "True",
    }  # fmt: skip


def test_a_failed_run_is_exit_1_and_says_why(laptop: Laptop) -> None:
    script = "steps:\n- expect: {contains: [never said]}\n  say: x\n"
    done = laptop.run(script, "-o", "json")
    assert done.returncode == 1
    failure = json.loads(done.stdout)["status"]["failure"]
    assert failure["class"] == "AppError"
    assert failure["message"].startswith("ScriptMismatch: ")
    assert "AppError: ScriptMismatch: " in laptop.run(script).stderr


def test_bash_is_off_unless_the_profile_allows_it(laptop: Laptop) -> None:
    script = 'steps:\n- toolCalls: [{name: bash, args: {command: "touch x"}}]\n- say: ok\n'
    done = laptop.run(script)
    assert done.returncode == 0, done.stderr
    (result,) = [line for line in laptop.journal() if line["type"] == "tool.result"]
    assert result["status"] == "error"
    assert list(laptop.folder.rglob("x")) == []


def test_bad_input_prints_every_problem_with_its_place_and_is_exit_2(laptop: Laptop) -> None:
    (laptop.folder / "run.yaml").write_text(RUN.replace("prompt: hi", "promt: hi\n  retries: 9"))
    (laptop.folder / "profile.yaml").write_text("kind: [\n")
    done = laptop.run("steps: []", "-f", "missing.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    assert [line.partition(": ")[0] for line in done.stderr.splitlines()] == [
        "profile.yaml:2",
        "missing.yaml",
    ]
    (laptop.folder / "profile.yaml").write_text(PROFILE % "maybe")
    done = laptop.run("steps: []")
    assert [line.split(": ")[:3] for line in done.stderr.splitlines()] == [
        ["run.yaml:6", "AgentRun r", "spec.promt"],
        ["run.yaml:7", "AgentRun r", "spec.retries"],
        ["profile.yaml:6", "AgentProfile p", "spec.sandbox.allowLocalBash"],
    ]
    assert not (laptop.folder / "data").exists()


def test_a_bad_script_names_file_line_and_field(laptop: Laptop) -> None:
    done = laptop.run("steps:\n- say: a\n- sai: b\n")
    assert done.returncode == 2
    assert done.stderr.startswith("script.yaml: line 3: steps[1]")


def test_files_may_come_from_stdin_and_in_one(laptop: Laptop) -> None:
    (laptop.folder / "run.yaml").write_text("")
    (laptop.folder / "profile.yaml").write_text("")
    done = laptop.run(WORK, "-f", "-", stdin=f"{RUN}---\n{PROFILE % 'false'}")
    assert (done.returncode, done.stdout) == (0, "all done\n"), done.stderr


def test_a_named_thread_keeps_its_files_and_an_unnamed_one_is_new_each_time(laptop: Laptop) -> None:
    look = "steps:\n- toolCalls: [{name: ls, args: {path: /mnt/user-data/workspace}}]\n- expect: {%s: ['a\\.txt']}\n  say: ok\n"
    assert laptop.run(WORK, "--thread", "t").returncode == 0
    again = laptop.run(look % "contains", "--thread", "t")
    assert again.returncode == 0, again.stderr
    other = laptop.run(look % "absent")
    assert other.returncode == 0, other.stderr
    assert len(list(laptop.folder.glob("data/threads/*"))) == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_run_as_cancelled_and_still_prints_it(
    bash_laptop: Laptop, number: signal.Signals
) -> None:
    with bash_laptop.running(SLEEP, "-o", "json") as process:
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1, stderr
    status = json.loads(stdout)["status"]
    assert (status["phase"], status["cancelled"]) == ("Cancelled", True)
    assert status["runner"]["outcome"]["class"] == "Cancelled"
    assert bash_laptop.journal()[-1]["type"] == "run.end"


def test_the_active_deadline_is_kept(bash_laptop: Laptop) -> None:
    run = RUN + "  limits: {activeDeadlineSeconds: 1}\n"
    (bash_laptop.folder / "run.yaml").write_text(run)
    done = bash_laptop.run(SLEEP, "-o", "json")
    assert done.returncode == 1
    status = json.loads(done.stdout)["status"]
    assert (status["phase"], status["failure"]["class"]) == ("TimedOut", "Timeout")


def test_a_later_run_of_a_thread_goes_on_with_the_conversation(laptop: Laptop) -> None:
    first = "steps: [{expect: {absent: ['ai: ']}, say: I am called Ann.}]"
    later = "steps: [{expect: {contains: ['ai: I am called Ann'], lastRole: human}, say: Still Ann.}]"
    assert laptop.run(first, "--thread", "t").returncode == 0
    assert laptop.run(later, "--thread", "t").returncode == 0
    assert laptop.run(first, "--thread", "other").returncode == 0
    (kept, _) = sorted(laptop.folder.glob("data/threads/*/checkpoints.sqlite"))
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_thread_serves_one_run_at_a_time(bash_laptop: Laptop) -> None:
    with bash_laptop.running(SLEEP, "--thread", "t") as process:
        second = bash_laptop.run(SLEEP, "--thread", "t")
        assert (second.returncode, second.stdout) == (1, "")
        assert (
            second.stderr == f"skerry: thread t: another run works on this thread (process {process.pid})\n"
        )
        process.terminate()
        process.communicate(timeout=PATIENCE)


def test_a_full_disk_under_the_journal_is_told_and_the_run_goes_on(laptop: Laptop) -> None:
    done = laptop.run(WORK, "--journal", "/dev/full")
    assert done.returncode == 0
    assert (
        done.stderr.count("skerry: journal: full can't be written: [Errno 28] No space left on device\n") == 1
    )


def test_what_is_wrong_with_the_journal_stands_in_the_output_as_in_a_status(laptop: Laptop) -> None:
    done = laptop.run(WORK, "--journal", "/dev/full", "-o", "json")
    assert done.returncode == 0, done.stderr
    status = json.loads(done.stdout)["status"]
    words = "full can't be written: [Errno 28] No space left on device"
    assert status["runner"]["journalFault"] == words
    (gap,) = [each for each in status["conditions"] if each["type"] == "JournalComplete"]
    assert (gap["status"], gap["reason"], gap["message"]) == ("False", "JournalUnwritable", words)


def test_a_thread_keeps_the_journal_of_as_many_runs_as_its_profile_says(laptop: Laptop) -> None:
    profile = laptop.folder / "profile.yaml"
    profile.write_text(profile.read_text() + "  persistence: {type: Volume, volume: {keepRuns: 2}}\n")
    for _ in range(3):
        assert laptop.run("steps: [{say: hi}]", "--thread", "t").returncode == 0
    lines = laptop.journal()
    assert len({line["run"] for line in lines}) == 2
    assert [line["type"] for line in lines].count("run.end") == 2
    assert lines[0]["type"] == "run.start"


def test_the_journal_may_go_elsewhere(laptop: Laptop) -> None:
    assert laptop.run(WORK, "--journal", "sub/j.jsonl").returncode == 0
    lines = (laptop.folder / "sub" / "j.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["type"] == "run.start"
    assert json.loads(lines[-1])["type"] == "run.end"
    (laptop.folder / "file").write_text("")
    refused = laptop.run(WORK, "--journal", "file/j.jsonl")
    assert refused.returncode == 2
    assert "file" in refused.stderr
