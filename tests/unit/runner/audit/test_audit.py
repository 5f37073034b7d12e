"""The door of the gate: what can't be judged, rules that don't count, bounds."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from skerry_runner.audit import RULES, Verdict, audit
from skerry_testing.controlplane import ROOT
from skerry_testing.hardcommands import CHARS, hard_commands


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("ls\0", "null-byte"),
        ("x" * 10_001, "too-long"),
        ("$(" * 100, "too-complex"),
    ],
)
def test_what_can_t_be_judged_is_blocked(command: str, rule: str) -> None:
    found = audit(command)
    assert (found.verdict, found.rules) == (Verdict.BLOCK, (rule,))


def test_the_longest_command_is_judged() -> None:
    assert audit("echo " + "x" * 9_995).verdict is Verdict.PASS
    assert audit("echo xxx", chars_max=7).rules == ("too-long",)


def test_rules_can_be_taken_out_but_not_the_bounds() -> None:
    assert audit("pip install x", ignored=("install",)).verdict is Verdict.PASS
    assert audit("sudo rm -rf /", ignored=("privilege",)).rules == ("delete-system",)
    assert audit("$(" * 100, ignored=("too-complex",)).verdict is Verdict.BLOCK


def test_the_gravest_rule_comes_first_and_reasons_name_them_all() -> None:
    found = audit("sudo rm -rf /; pip install x")
    assert found.rules[0] == "delete-system"
    assert set(found.rules) == {"delete-system", "privilege", "install"}
    assert all(f"({rule})" in found.reasons() for rule in found.rules)


@pytest.mark.parametrize(
    ("name", "command"), list(hard_commands()), ids=lambda value: value[:30] if len(value) < 60 else ""
)
def test_hard_commands_are_bounded(name: str, command: str) -> None:
    assert len(command) <= CHARS
    started = time.process_time()
    audit(command)
    # The bound of 50 ms is measured in benchmarks/; here only what runs away is found.
    assert time.process_time() - started < 1, name


def test_surrogates_and_control_characters_are_text() -> None:
    for command in ("echo \ud800", "echo \x1b[31m", "\ufeffls", "echo \ufffc\U000f0000", "\ufffc"):
        assert isinstance(audit(command).rules, tuple)


def test_the_gate_imports_no_framework() -> None:
    code = (
        "import sys, skerry_runner.audit, skerry_cli.audit;"
        "sys.exit(any(name.split('.')[0] in {'langchain', 'langchain_core', 'langgraph', 'pydantic', 'httpx'} for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_page_lists_the_rules() -> None:
    page = (ROOT / "docs/reference/audit.md").read_text(encoding="utf-8")
    listed = [line.strip("| \n").split(" | ") for line in page.splitlines() if line.startswith("| `")]
    assert listed == [[f"`{rule.id}`", rule.verdict.value, rule.says] for rule in RULES.values()]
