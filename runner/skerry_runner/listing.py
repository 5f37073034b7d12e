"""The pipeline of a profile for people: every row in its place, whether it is there, and why."""

from __future__ import annotations

from dataclasses import dataclass

from skerry_api.document import RunDocument
from skerry_runner.compose.rows import hooks_of
from skerry_runner.customrows import NotInstalled
from skerry_runner.invariants import check_order
from skerry_runner.pipeline import rows_for

__all__ = ["ListedRow", "listing"]


@dataclass(frozen=True)
class ListedRow:
    """`hooks` are those that the row takes part in, in LangChain's order; None: its class is not installed here."""

    name: str
    present: bool
    reason: str
    hooks: tuple[str, ...] | None


def listing(document: RunDocument) -> tuple[ListedRow, ...]:
    """All rows of the table, absent ones too.

    Raises:
        PipelineError: the rows do not fit together.
        InvalidDocument: a row of the user's own that is installed can't be made.
    """
    rows = []
    for spec in rows_for(document):
        presence = spec.when(document)
        try:
            row = spec.build(document)
        except NotInstalled:
            # It may be in the runner's image, where it is looked for again.
            reason = f"{presence.reason}; not installed here, so its hooks are not known"
            rows.append(ListedRow(spec.name, presence.present, reason, None))
            continue
        hooks = tuple(hook.value for hook in hooks_of(row))
        rows.append(ListedRow(row.name, presence.present, presence.reason, hooks))
    check_order([row.name for row in rows if row.present])
    return tuple(rows)
