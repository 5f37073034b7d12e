"""`skerry audit`: lines in, verdicts out, nothing lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def skerry_audit(*arguments: str, stdin: bytes = b"") -> tuple[int, list[dict[str, object]], str]:
    command = [sys.executable, "-m", "skerry_cli", "audit", *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=180, check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


def lines(*commands: str) -> bytes:
    return b"".join(json.dumps({"command": command}).encode() + b"\n" for command in commands)


WANTED = [
    {"command": "ls", "verdict": "pass", "rules": []},
    {"command": "sudo ls", "verdict": "warn", "rules": ["privilege"]},
    {"command": "rm -rf /\n", "verdict": "block", "rules": ["delete-system"]},
]


def test_from_stdin_and_from_a_file(tmp_path: Path) -> None:
    given = lines("ls", "sudo ls", "rm -rf /\n")
    file = tmp_path / "commands.jsonl"
    file.write_bytes(given)
    assert skerry_audit(stdin=given) == (0, WANTED, "")
    assert skerry_audit("-", stdin=given) == (0, WANTED, "")
    assert skerry_audit(str(file)) == (0, WANTED, "")
    assert skerry_audit(stdin=b"") == (0, [], "")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "stdin: line 2: not JSON"),
        (b'"ls"', 'stdin: line 2: must be an object with the text "command"'),
        (b'{"command": 5}', 'stdin: line 2: must be an object with the text "command"'),
        (b'{"cmd": "ls"}', 'stdin: line 2: must be an object with the text "command"'),
        (b'{"command": "\xff"}', "stdin: line 2: not UTF-8"),
        (b"[" * 100_000, "stdin: line 2: not JSON"),
    ],
)
def test_a_bad_line_is_told_and_the_others_are_judged(line: bytes, words: str) -> None:
    code, found, told = skerry_audit(stdin=lines("ls") + line + b"\n\n" + lines("sudo ls"))
    assert (code, [case["verdict"] for case in found]) == (2, ["pass", "warn"])
    assert told.startswith(words)
    assert told.count("\n") == 1


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    code, found, told = skerry_audit(str(tmp_path / "none"))
    assert (code, found) == (2, [])
    assert "No such file" in told
    assert skerry_audit(str(tmp_path))[0] == 2


def test_it_starts_without_any_framework() -> None:
    code = (
        "import sys; sys.argv=['skerry','audit']; import io; sys.stdin=io.TextIOWrapper(io.BytesIO(b''))\n"
        "from skerry_cli.app import app\n"
        "try: app(prog_name='skerry')\n"
        "except SystemExit: pass\n"
        "sys.exit(any(m.split('.')[0] in {'langchain', 'langchain_core', 'langgraph'} for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
