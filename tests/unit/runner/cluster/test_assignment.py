from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skerry_runner.cluster.assignment import InvalidDocument, parse_assignment, read_assignment
from skerry_runner.cluster.environment import Identity

US = Identity("ns", "r", 2, pod_uid="u", node=None)
GOOD: dict[str, Any] = {
    "run": {"namespace": "ns", "name": "r", "uid": "u-1", "generation": 1, "epoch": 2},
    "userId": "default", "threadId": "t", "profile": "p", "prompt": "hi", "model": {"name": "scripted"},
    "sandbox": {"sandboxId": "sbx-1", "className": "default", "acquire": "Lazy"},
    "tools": ["bash"], "maxTurns": 3,
}  # fmt: skip


def test_the_document_of_this_pod_is_taken(tmp_path: Path) -> None:
    (tmp_path / "document.json").write_text(json.dumps(GOOD))
    assert read_assignment(tmp_path / "document.json", US).prompt == "hi"


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"maxTurns": "many"}, "maxTurns"),
        ({"tools": ["bash", "fly"]}, "tools[1]"),
        ({"surprise": 1}, "surprise"),
        ({"model": {}}, "model.name"),
        ({"run": GOOD["run"] | {"name": "other"}}, "run.name"),
        ({"run": GOOD["run"] | {"epoch": 1}}, "run.epoch"),
        ({"run": GOOD["run"] | {"namespace": "else"}}, "run.namespace"),
    ],
)
def test_a_bad_document_names_the_field(change: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        parse_assignment(json.dumps(GOOD | change), US)
    assert [problem.path for problem in caught.value.problems] == [path]
    assert f"document {path}: " in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[]", '"text"'])
def test_what_is_no_document_at_all_is_refused(text: str) -> None:
    with pytest.raises(InvalidDocument):
        parse_assignment(text, US)


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidDocument, match="cannot be read"):
        read_assignment(tmp_path / "none.json", US)
