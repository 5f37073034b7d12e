"""The generator: what it writes, what it finds stale, and columns that point at real fields."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from skerry_api.kinds import KINDS
from skerry_api.structural import Schema, structural
from skerry_gen.columns import COLUMNS, SELECTABLE
from skerry_gen.main import KEEP, ROOT, generated, main, stale, unexpected


def test_what_lies_in_the_repository_is_fresh() -> None:
    assert stale(ROOT, generated()) == ""


def test_writing_then_checking_finds_nothing(tmp_path: Path) -> None:
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0
    assert len(list((tmp_path / "crds").glob("*.yaml"))) == len(KINDS)


def test_a_stale_file_is_shown_as_a_diff_and_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([], tmp_path)
    path = tmp_path / "crds" / "skerry.dev_agentruns.yaml"
    path.write_text(path.read_text().replace("listKind: AgentRunList", "listKind: Runs"))
    capsys.readouterr()
    assert main(["--check"], tmp_path) == 1
    said = capsys.readouterr().err
    assert "-    listKind: Runs" in said
    assert "+    listKind: AgentRunList" in said
    assert "listKind: Runs" in path.read_text()


def test_a_file_that_is_no_longer_made_is_found_and_removed(tmp_path: Path) -> None:
    main([], tmp_path)
    stray = tmp_path / "crds" / "skerry.dev_agents.yaml"
    stray.write_text("{}")
    assert unexpected(tmp_path, generated()) == [stray]
    assert main(["--check"], tmp_path) == 1
    main([], tmp_path)
    assert not stray.exists()


def test_generating_twice_gives_the_same() -> None:
    assert generated() == generated()


def test_the_charts_copy_differs_by_the_keep_annotation_alone() -> None:
    files = generated()
    for name, text in files.items():
        if name.startswith("crds/"):
            in_chart = yaml.safe_load(files[f"charts/skerry-crds/templates/{Path(name).name}"])
            assert in_chart["metadata"].pop("annotations") == KEEP
            assert in_chart == yaml.safe_load(text)


def test_files_fit_kubectls_annotation() -> None:
    assert all(len(text.encode()) < 200_000 for text in generated().values())


def node_at(schema: Schema, path: str) -> Schema:
    for name in re.sub(r"\[.*?\]", "[]", path).removeprefix(".").split("."):
        schema = schema["properties"][name.removesuffix("[]")]
        schema = schema["items"] if name.endswith("[]") else schema
    return schema


@pytest.mark.parametrize("kind", KINDS)
def test_columns_and_selectors_point_at_fields(kind: str) -> None:
    schema = structural(KINDS[kind])
    for column in COLUMNS[kind]:
        if not column.path.startswith(".metadata"):
            node = node_at(schema, column.path)
            assert column.type in {
                node["type"],
                "date" if node.get("format") == "date-time" else node["type"],
            }
    for path in SELECTABLE[kind]:
        assert node_at(schema, path)["type"] == "string"


def test_age_is_the_last_of_the_narrow_columns() -> None:
    for columns in COLUMNS.values():
        assert [column.name for column in columns if not column.wide][-1] == "Age"


@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_names_every_field(kind: str) -> None:
    page = generated()["docs/reference/api.md"]
    section = page.split(f"\n## {kind}\n")[1].split("\n## ")[0]

    def expect(schema: Schema, prefix: str) -> None:
        for name, child in schema.get("properties", {}).items():
            assert f"| `{prefix}{name}` |" in section
            expect(child, f"{prefix}{name}.")
            expect(child.get("items", {}), f"{prefix}{name}[].")

    for part in ("spec", "status"):
        expect(structural(KINDS[kind])["properties"].get(part, {}), "")
