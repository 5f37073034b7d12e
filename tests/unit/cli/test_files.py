"""`skerry run --file NAME=PATH`: from the command line to the agent, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from skerry_cli.inputs import read_files

RUN = """\
apiVersion: skerry.dev/v1alpha1
kind: AgentRun
metadata: {name: r}
spec:
  profileRef: {name: scripted}
  prompt: hi
  files: [{name: inline.txt, inline: "from the spec"}]
  model:
    script: |
      steps:
      - toolCalls:
        - {name: read_file, args: {path: /mnt/user-data/uploads/a.txt}}
        - {name: read_file, args: {path: /mnt/user-data/uploads/inline.txt}}
      - expect: {contains: ["from the command line", "from the spec"]}
        say: read both
"""


def test_the_agent_reads_what_the_command_line_gave(tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text(RUN)
    (tmp_path / "some file").write_text("from the command line")
    command = [
        sys.executable, "-m", "skerry_cli", "run", "-f", "run.yaml", "--file", "a.txt=some file", "--data-dir", "data", "-o", "json",
    ]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"]["runner"]["answer"] == "read both"
    (folder,) = (tmp_path / "data" / "threads").iterdir()
    assert (folder / "user-data" / "uploads" / "a.txt").read_text() == "from the command line"


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("a", "must be NAME=PATH"),
        ("a=", "must be NAME=PATH"),
        ("=x", "NAME must have 1 to 128 characters"),
        ("../a=x", "no slash"),
        ("a/b=x", "no slash"),
        ("..=x", "not . or .."),
        ("a\nb=x", "no control character"),
        ("ä" * 128 + "=x", "at most 255 bytes"),
        ("a=none", "No such file"),
        ("a=.", "directory"),
    ],
)
def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").write_text("x")
    files, problems = read_files((option,))
    assert files == ()
    assert [message in problem.text() for problem in problems] == [True], problems


def test_an_equals_sign_belongs_to_the_path_and_a_name_is_given_once(tmp_path: Path) -> None:
    path = tmp_path / "a=b"
    path.write_bytes(b"\0\xff")
    files, problems = read_files((f"n={path}", f"n={path}"))
    assert [(file.name, file.data) for file in files] == [("n", b"\0\xff")]
    assert ["another file named n" in problem.text() for problem in problems] == [True]
