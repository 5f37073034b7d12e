"""The corpus: commands with the verdicts that they must get, and no rule that nothing breaks."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from skerry_runner.audit import RULES, Verdict, audit
from skerry_testing.controlplane import ROOT

CORPUS = [
    json.loads(line)
    for verdict in Verdict
    for line in (ROOT / f"tests/data/audit/{verdict.value}.jsonl").read_text(encoding="utf-8").splitlines()
]
HELD_ELSEWHERE = {"empty", "too-long", "null-byte", "too-complex"}


def test_every_command_gets_its_verdict_by_its_rules() -> None:
    wrong = []
    for case in CORPUS:
        found = audit(case["command"])
        if (found.verdict.value, list(found.rules)) != (case["verdict"], case["rules"]):
            wrong.append((case["command"], case["verdict"], case["rules"], found))
    assert wrong == []


def test_the_corpus_is_large_and_half_of_it_ordinary_work() -> None:
    counted = Counter(case["verdict"] for case in CORPUS)
    assert len({case["command"] for case in CORPUS}) == len(CORPUS) >= 400
    assert counted["pass"] >= 0.4 * len(CORPUS)
    assert min(counted["block"], counted["pass"]) >= 400


def test_no_rule_is_without_a_command_that_breaks_it() -> None:
    assert {rule for case in CORPUS for rule in case["rules"]} == set(RULES) - HELD_ELSEWHERE


@pytest.mark.parametrize(
    "case", [c for c in CORPUS if c["verdict"] == "block"][::15], ids=lambda c: c["command"][:40]
)
def test_a_blocked_command_stays_blocked_among_others(case: dict[str, str]) -> None:
    command = case["command"]
    assert audit(f"echo start\n{command}").verdict is Verdict.BLOCK
    if not any(mark in command for mark in ("<<", "#", "set --", "`", "&", "cd ")):
        assert audit(f"{{ {command}\n}}").verdict is Verdict.BLOCK
        assert audit(f"if make; then\n{command}\nfi").verdict is Verdict.BLOCK
