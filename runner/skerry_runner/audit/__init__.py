"""The gate before bash: what a command would do, judged without running it. Pure, and free of LangChain.

A gate, not the sandbox: it keeps an agent from plain mistakes and plain attacks, and leaves a record of every
command. What it lets through still runs in a sandbox that holds whether the gate was right or not.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from skerry_runner.audit.judge import Judge
from skerry_runner.audit.rules import RULES, Rule, Verdict, worst
from skerry_runner.audit.scan import Budget, TooComplexError

__all__ = ["CHARS_MAX", "RULES", "Audit", "Rule", "Verdict", "audit"]

CHARS_MAX = 10_000
PARTS_MAX = 4500


@dataclass(frozen=True)
class Audit:
    """`rules`: the ids of those that the command breaks, the gravest first."""

    verdict: Verdict
    rules: tuple[str, ...]

    def reasons(self) -> str:
        """Sentences for the agent: what the command does that the rules are about."""
        return "; ".join(f"it {RULES[rule].says} ({rule})" for rule in self.rules)


def audit(command: str, *, chars_max: int = CHARS_MAX, ignored: Container[str] = ()) -> Audit:
    """The verdict on a bash command. Never raises, whatever the text; bounded in time.

    `ignored`: ids of rules that don't count; a command that can't be judged is blocked all the same.
    """
    if not command.strip():
        return _audit(["empty"])
    if "\0" in command:
        return _audit(["null-byte"])
    if len(command) > chars_max:
        return _audit(["too-long"])
    judge = Judge(Budget(PARTS_MAX))
    try:
        judge.code(command.replace("\r\n", "\n"))
    except (TooComplexError, RecursionError):
        judge.find("too-complex")
    return _audit([rule for rule in judge.found if rule == "too-complex" or rule not in ignored])


def _audit(found: list[str]) -> Audit:
    verdict = worst([RULES[rule].verdict for rule in found])
    return Audit(verdict, tuple(sorted(found, key=lambda rule: RULES[rule].verdict is not Verdict.BLOCK)))
