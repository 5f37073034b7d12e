from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

HEAVY = (
    "langchain",
    "langchain_core",
    "langgraph",
    "httpx",
    "pydantic",
    "kubernetes",
    "yaml",
    "skerry_runner",
)


def skerry(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "skerry_cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)


def test_version() -> None:
    done = skerry("version")
    assert (done.returncode, done.stdout) == (0, version("skerry") + "\n")


def test_help_lists_the_commands_and_no_command_is_help() -> None:
    for arguments in (["--help"], ["-h"], []):
        done = skerry(*arguments)
        words = done.stdout + done.stderr
        assert "run " in words
        assert "version" in words


def test_wrong_usage_is_bad_input() -> None:
    for arguments in (["run"], ["run", "-f"], ["run", "-f", "x", "-o", "xml"], ["fly"]):
        assert skerry(*arguments).returncode == 2


@pytest.mark.parametrize("module", HEAVY)
def test_help_imports_nothing_heavy(module: str) -> None:
    code = f"import sys, skerry_cli.app, skerry_cli.__main__; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_checking_files_needs_no_langchain() -> None:
    code = "import sys, skerry_cli.run, skerry_runner.local.assignment; sys.exit('langchain' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
