"""`skerry pipeline` from the outside: a profile in, its rows out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from skerry_cli.app import app

PROFILE = """\
apiVersion: skerry.dev/v1alpha1
kind: AgentProfile
metadata: {name: p}
spec:
  model: {name: "openai:x"}
  pipeline:
    todoList: {enabled: true}
"""


def shown(tmp_path: Path, text: str, *options: str) -> tuple[int, str, str]:
    path = tmp_path / "p.yaml"
    path.write_text(text)
    result = CliRunner().invoke(app, ["pipeline", "-f", str(path), *options])
    return result.exit_code, result.stdout, result.stderr.replace(str(path), "p.yaml")


def test_rows_as_json_are_all_in_order_with_reasons_and_hooks(tmp_path: Path) -> None:
    code, out, _ = shown(tmp_path, PROFILE, "-o", "json")
    rows = json.loads(out)
    assert code == 0
    assert all(set(row) == {"name", "present", "reason", "hooks"} for row in rows)
    assert (rows[0]["name"], rows[-1]["name"]) == ("RunGate", "Clarification")
    by_name = {row["name"]: row for row in rows}
    assert by_name["TodoList"]["present"] is True
    assert by_name["Summarization"] == {
        "name": "Summarization", "present": False, "reason": "pipeline.summarization.enabled is false",
        "hooks": ["before_model"],
    }  # fmt: skip
    assert by_name["ToolErrorHandling"]["hooks"] == ["wrap_tool_call"]


def test_the_table_has_a_line_for_each_row(tmp_path: Path) -> None:
    code, out, _ = shown(tmp_path, PROFILE)
    lines = out.splitlines()
    assert (code, lines[0].split()) == (0, ["NAME", "PRESENT", "HOOKS", "REASON"])
    assert [line.split()[:2] for line in lines if line.startswith(("TodoList", "Summarization"))] == [
        ["Summarization", "no"], ["TodoList", "yes"],
    ]  # fmt: skip


def test_a_user_s_row_stands_before_the_guards(tmp_path: Path) -> None:
    text = PROFILE + '    custom: [{path: "skerry_testing.customrows:Polite", settings: {word: please}}]\n'
    code, out, _ = shown(tmp_path, text, "-o", "json")
    assert code == 0
    assert [(row["name"], row["reason"]) for row in json.loads(out)][-3] == ("Polite", "pipeline.custom[0]")


@pytest.mark.parametrize("path", ["no.such:Row", "skerry_testing.nowhere.deep:Row"])
def test_a_class_that_is_in_the_runner_s_image_alone_is_listed(tmp_path: Path, path: str) -> None:
    text = PROFILE + f'    custom: [{{path: "{path}"}}]\n'
    code, out, _ = shown(tmp_path, text, "-o", "json")
    reason = "pipeline.custom[0]; not installed here, so its hooks are not known"
    assert (code, json.loads(out)[-3]) == (
        0, {"name": "Row", "present": True, "reason": reason, "hooks": None},
    )  # fmt: skip
    _, out, _ = shown(tmp_path, text)
    assert [line.split() for line in out.splitlines() if line.startswith("Row ")] == [
        ["Row", "yes", "?", *reason.split()]
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (PROFILE.replace("enabled: true", "enabled: 1"), "p.yaml:7: AgentProfile p: spec.pipeline.todoList.enabled: must be"),
        (PROFILE + '    custom: [{path: "skerry_testing.customrows:Nobody"}]\n', "p.yaml: AgentProfile p: spec.pipeline.custom[0].path: skerry_testing.customrows:Nobody can't be imported"),
        (PROFILE + '    custom: [{path: "skerry_runner.middleware.sandbox:Sandbox"}, {path: "skerry_testing.customrows:Picky"}]\n', "custom[1]: skerry_testing.customrows:Picky can't be made"),
        ("", "p.yaml: there must be one AgentProfile in the file"),
        (f"{PROFILE}---\n{PROFILE}", "p.yaml: there must be one AgentProfile in the file, not 2"),
        ("a: [", "p.yaml:"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_file_and_field(tmp_path: Path, text: str, words: str) -> None:
    code, out, err = shown(tmp_path, text)
    assert (code, out) == (2, "")
    assert words in err
