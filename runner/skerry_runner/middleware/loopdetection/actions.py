"""What counts as the same action: the calls of one message, whatever their order, by what matters in them. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from skerry_runner.toolcalls import Declared

__all__ = ["BUCKET_LINES", "action_of"]

BUCKET_LINES = 200
"""Lines of a file that are the same place: being off by a few is not another action."""
_READ = "read_file"
_SALIENT: dict[str, tuple[str, ...]] = {
    "bash": ("command",),
    "ls": ("path",),
    "glob": ("pattern", "path"),
    "grep": ("pattern", "path", "glob"),
    "view_image": ("image_path",),
}
"""Of tools whose other arguments only say how, or how much. All others go by everything they are called with: a page
number of an unknown tool is another action, and so is another text in an edit."""
_json = json.JSONEncoder(sort_keys=True, ensure_ascii=False, default=str).encode
_REMARK = "description"
"""An argument of our own tools for whoever reads along."""
_OWN = frozenset({*_SALIENT, _READ, "write_file", "str_replace", "present_files"})


def action_of(calls: Sequence[Declared]) -> str:
    """A digest of a message's calls."""
    texts = sorted({f"{call.name or ''}:{_key(call)}" for call in calls})
    return hashlib.sha256("\n".join(texts).encode("utf-8", "replace")).hexdigest()[:16]


def _key(call: Declared) -> str:
    args = _args(call)
    if not isinstance(args, Mapping):
        return _json(args)
    name = call.name or ""
    if name == _READ:
        return _place(args)
    if name in _SALIENT and any(key in args for key in _SALIENT[name]):
        return _json({key: args.get(key) for key in _SALIENT[name]})
    dropped = {_REMARK} if name in _OWN else set()
    return _json({key: value for key, value in args.items() if key not in dropped})


def _args(call: Declared) -> Any:
    """The arguments; those of a broken call as far as they can be read."""
    if call.args is not None:
        return call.args
    try:
        return json.loads(call.text or "{}")
    except (ValueError, RecursionError):
        return call.text


def _place(args: Mapping[str, Any]) -> str:
    """The file and the buckets of lines that a call looks into."""
    first, last = _line(args.get("start_line")), _line(args.get("end_line"))
    if first is not None and last is not None and last < first:
        first, last = last, first
    begin = ((first or 1) - 1) // BUCKET_LINES
    # Without an end it reads on from its beginning, as far as the tool gives it.
    end = begin if last is None else (last - 1) // BUCKET_LINES
    return _json([args.get("path"), begin, end])


def _line(value: Any) -> int | None:
    if isinstance(value, str) and value.strip().lstrip("+-").isdecimal():
        value = int(value[:18])
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return max(value, 1)
