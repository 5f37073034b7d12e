"""Which files are generated, and the two things to do with them: write, or compare."""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

from skerry_api.kinds import KINDS
from skerry_gen.apidoc import api_reference
from skerry_gen.crd import crd, crd_filename, to_yaml

__all__ = ["generated", "main", "stale", "unexpected"]

ROOT = Path(__file__).resolve().parents[2]
OWNED = ("crds/*.yaml", "charts/skerry-crds/templates/*.yaml")
"""Where only generated files may lie."""
# An uninstalled chart must not take every run with it; upgrades go through, as these are templates.
KEEP = {"helm.sh/resource-policy": "keep"}


def generated() -> dict[str, str]:
    """Text of each generated file by its path from the root."""
    models = list(KINDS.values())
    files = {f"crds/{crd_filename(model)}": to_yaml(crd(model)) for model in models}
    for model in models:
        text = to_yaml(crd(model, KEEP))
        if "{{" in text:
            raise ValueError(f"{model.KIND}: '{{{{' in a description would be taken for a Helm template")
        files[f"charts/skerry-crds/templates/{crd_filename(model)}"] = text
    files["docs/reference/api.md"] = api_reference(models)
    return files


def unexpected(root: Path, files: dict[str, str]) -> list[Path]:
    """Files in generated places that no generator makes any more."""
    return sorted(
        path for each in OWNED for path in root.glob(each) if str(path.relative_to(root)) not in files
    )


def stale(root: Path, files: dict[str, str]) -> str:
    """A unified diff from what lies there to what should; empty if all is well."""
    diff: list[str] = []
    for name, text in files.items():
        path = root / name
        there = path.read_text(encoding="utf-8") if path.exists() else ""
        diff += difflib.unified_diff(there.splitlines(True), text.splitlines(True), name, f"{name} (new)")
    diff += [f"{path.relative_to(root)}: no longer generated\n" for path in unexpected(root, files)]
    return "".join(diff)


def main(arguments: list[str], root: Path = ROOT) -> int:
    """Exit code: 0, or 1 when --check found something stale (its diff is on stderr)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if anything is stale")
    options = parser.parse_args(arguments)
    files = generated()
    diff = stale(root, files)
    if options.check:
        sys.stderr.write(diff)
        return 1 if diff else 0
    for path in unexpected(root, files):
        path.unlink()
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if diff:
        print(f"gen: {len(files)} files written")
    return 0
