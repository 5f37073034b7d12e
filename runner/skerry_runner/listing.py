"""The pipeline of a profile for people: every row in its place, whether it is there, and why."""

from __future__ import annotations

from dataclasses import dataclass

from skerry_api.document import RunDocument
from skerry_runner.compose.rows import hooks_of
from skerry_runner.invariants import check_order
from skerry_runner.pipeline import rows_for

__all__ = ["ListedRow", "listing"]


@dataclass(frozen=True)
class ListedRow:
    """`hooks` are those that the row takes part in, in LangChain's order."""

    name: str
    present: bool
    reason: str
    hooks: tuple[str, ...]


def listing(document: RunDocument) -> tuple[ListedRow, ...]:
    """All rows of the table, absent ones too.

    Raises:
        PipelineError: the rows do not fit together.
        InvalidDocument: a row of the user's own can't be made.
    """
    rows = []
    for spec in rows_for(document):
        row, presence = spec.build(document), spec.when(document)
        hooks = tuple(hook.value for hook in hooks_of(row))
        rows.append(ListedRow(row.name, presence.present, presence.reason, hooks))
    check_order([row.name for row in rows if row.present])
    return tuple(rows)
