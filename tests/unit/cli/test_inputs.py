"""Files of the command line."""

from __future__ import annotations

from pathlib import Path

from skerry_cli.inputs import read_documents


def test_a_directory_stands_for_its_manifests_in_order(tmp_path: Path) -> None:
    for name in ("b.yml", "a.yaml", "c.json", "README.md"):
        (tmp_path / name).write_text('{"kind": "X"}')
    (tmp_path / "deeper.yaml").mkdir()
    documents, problems = read_documents((str(tmp_path),))
    assert problems == []
    assert [Path(each.file).name for each in documents] == ["a.yaml", "b.yml", "c.json"]
