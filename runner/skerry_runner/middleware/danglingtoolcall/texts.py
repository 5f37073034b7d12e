"""What the model is told of calls that have no result. Pure."""

from __future__ import annotations

from skerry_runner.toolcalls import CallSource, Declared

__all__ = ["missing_result"]

_LONG_ARGUMENTS = frozenset({"write_file", "str_replace"})
_INTERRUPTED = "Error: this call was interrupted and gave no result. It may have run in part; look before you make it again."


def missing_result(call: Declared, *, detail_max: int) -> str:
    """The result of a call that gave none; at most `detail_max` characters of what was wrong with it."""
    if not (call.name or "").strip():
        return "Error: this call was not made: it names no tool. Make it again with the name of a tool that you have."
    if call.source is CallSource.VALID:
        return _INTERRUPTED
    detail = " ".join((call.error or "").split())
    if len(detail) > detail_max:
        detail = detail[: max(0, detail_max - 1)] + "…" if detail_max else ""
    why = f" ({detail})" if detail else ""
    text = f"Error: this call was not made: its arguments are no complete JSON object{why}."
    if call.name in _LONG_ARGUMENTS:
        return f"{text} Do not send the same long text again: write it in several smaller calls."
    return f"{text} Make it again with complete arguments."
