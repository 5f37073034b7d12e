"""The files of a run: from its spec, from ConfigMaps, from the command line."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from skerry_runner.files import GivenFile
from skerry_runner.local.assignment import Assignment, Options, assign
from skerry_runner.local.givenfiles import BYTES_MAX
from skerry_runner.local.yamldoc import FileProblem, parse_documents

RUN = """\
apiVersion: skerry.dev/v1alpha1
kind: AgentRun
metadata: {name: r}
spec:
  profileRef: {name: scripted}
  prompt: hi
  model: {script: "steps: []"}
  files:
  - {name: a.txt, inline: "é"}
  - {name: b.bin, configMapKeyRef: {name: c, key: bin}}
  - {name: c.txt, configMapKeyRef: {name: c, key: text}}
"""
MAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {text: "plain"}
binaryData: {bin: "AP8="}
"""


def made(*texts: str, files: tuple[GivenFile, ...] = ()) -> Assignment | list[FileProblem]:
    documents = [document for text in texts for document in parse_documents("f.yaml", text)[0]]
    return assign(documents, Options(files=files), {}, uid="u", now=datetime(2026, 1, 2, tzinfo=UTC))


def test_files_come_from_everywhere() -> None:
    assignment = made(RUN, MAP, files=(GivenFile("c.txt", b"mine"), GivenFile("d", b"")))
    assert isinstance(assignment, Assignment), assignment
    assert [(file.name, file.data) for file in assignment.files] == [
        ("a.txt", "é".encode()), ("b.bin", b"\0\xff"), ("c.txt", b"mine"), ("d", b""),
    ]  # fmt: skip
    assert assignment.files[0].path == "/mnt/user-data/uploads/a.txt"


def test_what_the_files_lack_is_told_by_its_path() -> None:
    problems = made(RUN, MAP.replace("bin:", "other:"))
    assert isinstance(problems, list)
    assert [problem.text() for problem in problems] == [
        "f.yaml:10: AgentRun r: spec.files[1].configMapKeyRef: there is no ConfigMap c with key bin"
    ]


@pytest.mark.parametrize(
    "files",
    [
        tuple(GivenFile(f"n{number}", b"") for number in range(62)),
        (GivenFile("big", b"x" * (BYTES_MAX - 8)),),
    ],
    ids=["count", "size"],
)
def test_what_is_too_much_is_refused(files: tuple[GivenFile, ...]) -> None:
    problems = made(RUN, MAP, files=files)
    assert isinstance(problems, list)
    assert [problem.problem.path for problem in problems] == ["spec.files"]
    assert "with those of --file; at most" in problems[0].problem.message


def test_binary_data_must_be_base64() -> None:
    problems = made(RUN, MAP.replace("AP8=", "AP8"))
    assert isinstance(problems, list)
    assert [problem.problem.path for problem in problems] == ["binaryData.bin"]
