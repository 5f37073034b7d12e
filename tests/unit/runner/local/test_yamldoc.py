from __future__ import annotations

from typing import Any

import pytest

from skerry_api.problems import Problem
from skerry_runner.local.yamldoc import parse_documents


def one(text: str) -> Any:
    documents, problems = parse_documents("f.yaml", text)
    assert problems == []
    (document,) = documents
    return document.raw


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-05-08", "2026-05-08"),
        ("1:30", "1:30"),
        ("12", 12),
        ("-3", -3),
        ("0x1F", 31),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("1.2.3", "1.2.3"),
        ("true", True),
        ("~", None),
        ("1_000", "1_000"),
        ('"12"', "12"),
    ],
)
def test_scalars_are_what_kubectl_makes_of_them(text: str, value: object) -> None:
    assert one(f"a: {text}") == {"a": value}


def test_json_is_yaml() -> None:
    assert one('{"a": [1, "b", null]}') == {"a": [1, "b", None]}


def test_empty_documents_are_left_out() -> None:
    documents, problems = parse_documents("f.yaml", "---\n# nothing\n---\nkind: A\n---\n---\nkind: B\n")
    assert ([document.raw["kind"] for document in documents], problems) == (["A", "B"], [])


BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
TEXT = """\
kind: AgentRun
metadata:
  name: r
spec:
  limits:
    maxTurns: 0
  tools:
  - bash
  - ls
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("", 1),
        ("kind", 1),
        ("metadata.name", 3),
        ("spec", 4),
        ("spec.limits.maxTurns", 6),
        ("spec.tools[1]", 9),
        ("spec.tools[7]", 7),
        ("spec.prompt", 4),
        ("spec.limits.maxTurns.deeper", 6),
    ],
)
def test_a_field_is_found_by_its_path_or_else_what_is_around_it(path: str, line: int) -> None:
    documents, _ = parse_documents("f.yaml", TEXT)
    found = documents[0].at(Problem(path, "is bad"))
    assert found.line == line
    assert found.text() == f"f.yaml:{line}: AgentRun r: {path + ': ' if path else ''}is bad"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: [1\nb: 2\n", 2, "not YAML"),
        ("a: b: c\n", 1, "not YAML"),
        ("a: !!python/object:os.system x\n", 1, "not YAML"),
        ("a: &x [*x]\n", None, "an alias refers to what is around it"),
        ("[" * 5000, None, "not YAML"),
        (BOMB, None, "too large once its aliases are expanded"),
        ("a: *nowhere\n", 1, "undefined alias"),
    ],
)
def test_what_is_no_yaml_says_where(text: str, line: int | None, words: str) -> None:
    documents, problems = parse_documents("f.yaml", text)
    assert documents == []
    assert [problem.line for problem in problems] == [line]
    assert words in problems[0].text()


def test_a_bad_document_does_not_hide_the_ones_before() -> None:
    documents, problems = parse_documents("f.yaml", "a: 1\n---\na: [\n")
    assert (len(documents), len(problems)) == (1, 1)


def test_a_key_that_stands_twice_is_a_problem() -> None:
    _, problems = parse_documents("f.yaml", "spec:\n  prompt: a\n  l:\n  - x: 1\n    x: 2\n  prompt: b\n")
    assert [(problem.problem.path, problem.line) for problem in problems] == [
        ("spec.l[0].x", 5),
        ("spec.prompt", 6),
    ]


def test_merge_keys_are_no_double_keys() -> None:
    assert one("x: &x {a: 1}\ny:\n  <<: *x\n  b: 2\n")["y"] == {"a": 1, "b": 2}
