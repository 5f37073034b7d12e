"""Journal lines as a person likes to watch them: a sink of the journal that writes a short line for some."""

from __future__ import annotations

import json
from typing import Any, TextIO

from typing_extensions import override

from skerry_runner.journal import Sink

__all__ = ["ProgressSink", "told"]

WIDTH = 100


def told(event: dict[str, Any]) -> str | None:
    """What a person is told of an event; nothing of most. Pure."""
    words: str | None = None
    match event:
        case {"type": "run.start", "name": name, "model": model}:
            words = f"run {name} with model {model}"
        case {"type": "model.response", "text": str(text)} if event.get("toolCalls") and text.strip():
            words = f"  {_short(text)}"
        case {"type": "tool.call", "name": name, "args": args}:
            words = f"→ {name} {_short(args)}"
        case {"type": "tool.result", "status": status, "content": content}:
            words = f"{'✗' if status == 'error' else '←'} {_short(content) or '(nothing)'}"
        case {"type": "question", "text": text}:
            words = f"? {_short(text)}"
        case {"type": "model.error", "error": error, "message": message}:
            words = f"✗ model: {error}: {_short(message)}"
        case {"type": "loop.warning" | "loop.stop" as kind, "tools": names, "count": count}:
            does = "is stopped" if kind == "loop.stop" else "repeats itself"
            words = f"✗ the agent {does}: {_short(', '.join(names))}, {count} times"
        case {"type": "sandbox.acquired", "sandboxId": sandbox}:
            words = f"  sandbox {sandbox}"
        case {"type": "script.unused", "steps": steps}:
            count = (
                "1 step of the script was" if len(steps) == 1 else f"{len(steps)} steps of the script were"
            )
            words = f"  {count} not played"
        case _:
            pass
    return words


def _short(text: str) -> str:
    line = " ".join(text.split())
    # What tools return is not ours: no escape sequence of theirs reaches the terminal.
    line = "".join(letter if letter.isprintable() else "·" for letter in line)
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"


class ProgressSink(Sink):
    """Writes to a stream that others may use as well, such as stderr."""

    name = "stderr"

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    @override
    def write(self, line: bytes) -> None:
        if words := told(json.loads(line)):
            self._stream.write(words + "\n")
            self._stream.flush()

    @override
    def sync(self) -> None: ...

    @override
    def close(self) -> None: ...
