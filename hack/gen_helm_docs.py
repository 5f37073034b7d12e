"""Makes the table of values in docs/helm.md from the chart's schema and defaults; --check only compares."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

__all__ = ["main", "rows", "with_table"]

ROOT = Path(__file__).resolve().parents[1]
PAGE = "docs/helm.md"
BEGIN = "<!-- values: made by hack/gen_helm_docs.py -->"
END = "<!-- end of values -->"

Json = dict[str, Any]


def rows(schema: Json, defaults: Any, path: str = "") -> Iterator[tuple[str, str, str]]:
    """(path, default, description) of every value that is no mere group of others."""
    for name, each in schema.get("properties", {}).items():
        here = f"{path}.{name}" if path else name
        value = defaults.get(name) if isinstance(defaults, dict) else None
        inner = each.get("items", {})
        if "properties" in each:
            yield from rows(each, value, here)
            continue
        yield here, "" if value is None else json.dumps(value), each["description"]
        if "properties" in inner:
            yield from rows(inner, None, f"{here}[]")


def _table(schema: Json, defaults: Json) -> str:
    lines = ["| value | default | meaning |", "|---|---|---|"]
    for path, default, meaning in rows(schema, defaults):
        if path != "global":
            lines.append(
                f"| `{path}` | {f'`{default}`' if default else ''} | {meaning.replace('|', chr(92) + '|')} |"
            )
    return "\n".join(lines)


def with_table(page: str, schema: Json, defaults: Json) -> str:
    """The page with its table made anew. Raises ValueError when it has no place for one."""
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE} lacks {BEGIN} or {END}")
    return f"{head}{BEGIN}\n{_table(schema, defaults)}\n{END}{tail}"


def main(arguments: list[str], root: Path = ROOT) -> int:
    """Exit code: 0, or 1 when --check found the page stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if the page is stale")
    options = parser.parse_args(arguments)
    chart = root / "charts" / "skerry"
    schema = json.loads((chart / "values.schema.json").read_text(encoding="utf-8"))
    defaults = yaml.safe_load((chart / "values.yaml").read_text(encoding="utf-8"))
    page = root / PAGE
    there = page.read_text(encoding="utf-8")
    text = with_table(there, schema, defaults)
    if text == there:
        return 0
    if options.check:
        sys.stderr.write(f"{PAGE} does not fit the chart's values: run make gen\n")
        return 1
    page.write_text(text, encoding="utf-8")
    print(f"wrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
