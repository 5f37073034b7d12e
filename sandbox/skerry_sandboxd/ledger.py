"""Which keys were used, and how it ended: what makes "the same key never runs twice" outlive our memory.

The file lies on the Pod's emptyDir, so it survives a restart of the container. Code of our uid can spoil
it, but only to its own harm. The newest entries are kept, and unreadable lines are skipped.
"""

import contextlib
import json
import os
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from skerry_api.sandboxd_events import ExitEvent

__all__ = ["Entry", "Ledger", "parse_lines"]

_MAX_ENTRIES: Final = 10_000


@dataclass(frozen=True)
class Entry:
    """One key. `exit` None: it was started and no end is known. `output` counts bytes printed."""

    fingerprint: str
    exit: ExitEvent | None = None
    output: int = 0


def parse_lines(text: str) -> OrderedDict[str, Entry | None]:
    """The state after all lines; None marks a key that was given back because nothing ran."""
    entries: OrderedDict[str, Entry | None] = OrderedDict()
    for line in text.splitlines():
        with contextlib.suppress(ValueError, KeyError, TypeError, ValidationError):
            raw = json.loads(line)
            key = str(raw["key"])
            entries.pop(key, None)
            entries[key] = _entry(raw)
    return entries


def _entry(raw: Mapping[str, object]) -> Entry | None:
    if raw.get("void") is True:
        return None
    end = raw.get("exit")
    output = raw.get("output", 0)
    return Entry(
        fingerprint=str(raw["fingerprint"]),
        exit=None if end is None else ExitEvent.model_validate(end),
        output=output if isinstance(output, int) else 0,
    )


class Ledger:
    """Entries by key, in memory and (with a `path`) in an append-only file."""

    def __init__(self, path: Path | None, *, capacity: int = _MAX_ENTRIES) -> None:
        self._path = path
        self._capacity = capacity
        self._lines = 0
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        if path is not None:
            with contextlib.suppress(FileNotFoundError):
                text = path.read_text(encoding="utf-8", errors="replace")
                self._entries.update((k, e) for k, e in parse_lines(text).items() if e is not None)
            self._rewrite()

    def get(self, key: str) -> Entry | None:
        return self._entries.get(key)

    def put(self, key: str, entry: Entry) -> None:
        """Record before acting. Raises OSError if the file can't be written; then nothing is recorded."""
        self._append(_line(key, entry))
        self._entries.pop(key, None)
        self._entries[key] = entry
        while len(self._entries) > self._capacity:
            self._entries.popitem(last=False)

    def void(self, key: str) -> None:
        """Give a key back: nothing ran."""
        if self._entries.pop(key, None) is not None:
            self._append(json.dumps({"key": key, "void": True}))

    def _append(self, line: str) -> None:
        if self._path is None:
            return
        if self._lines >= 4 * self._capacity:
            self._rewrite()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        with os.fdopen(os.open(self._path, flags, 0o600), "w", encoding="utf-8") as file:
            file.write(line + "\n")
        self._lines += 1

    def _rewrite(self) -> None:
        if self._path is None:
            return
        while len(self._entries) > self._capacity:
            self._entries.popitem(last=False)
        fresh = self._path.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        lines = "".join(f"{_line(key, entry)}\n" for key, entry in self._entries.items())
        fresh.touch(0o600)
        fresh.write_text(lines, encoding="utf-8")
        fresh.replace(self._path)
        self._lines = len(self._entries)


def _line(key: str, entry: Entry) -> str:
    end = None if entry.exit is None else entry.exit.wire()
    return json.dumps({"key": key, "fingerprint": entry.fingerprint, "exit": end, "output": entry.output})
