"""`skerry audit`: the gate before bash as a filter, JSON lines in and out, for people and for tests of policies."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from skerry_runner.audit import audit

__all__ = ["audit_file"]

BAD_INPUT = 2
STDIN = "-"


def audit_file(file: str) -> int:
    """Judge the commands of a file; the exit code. Bad lines are told on stderr, and the others are judged all the same."""
    name = "stdin" if file == STDIN else file
    try:
        if file == STDIN:
            return _judged(name, sys.stdin.buffer)
        with Path(file).open("rb") as lines:
            return _judged(name, lines)
    except OSError as error:
        print(f"{name}: {error.strerror or error}", file=sys.stderr)
        return BAD_INPUT


def _judged(name: str, lines: Iterable[bytes]) -> int:
    code = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            command = _command(line)
        except ValueError as error:
            print(f"{name}: line {number}: {error}", file=sys.stderr)
            code = BAD_INPUT
            continue
        found = audit(command)
        print(
            json.dumps({"command": command, "verdict": found.verdict.value, "rules": found.rules}), flush=True
        )
    return code


def _command(line: bytes) -> str:
    try:
        value = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    except RecursionError:
        raise ValueError("not JSON: nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at character {error.pos + 1}") from None
    if not isinstance(value, dict) or not isinstance(value.get("command"), str):
        raise ValueError('must be an object with the text "command"')  # noqa: TRY004 - one kind of bad line
    return str(value["command"])
