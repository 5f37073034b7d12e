"""What would fail every run of a profile, though the API server takes it: it can't compile the runner's expressions."""

from __future__ import annotations

from collections.abc import Iterator

import regex  # type: ignore[import-untyped]  # it has no types

from skerry_api.agentprofile import AgentProfile
from skerry_api.filesearch.globs import BadGlob, glob_regex
from skerry_api.problems import Problem
from skerry_runner.guardrail.rules import anchored

__all__ = ["profile_faults"]


def profile_faults(profile: AgentProfile) -> Iterator[Problem]:
    """The expressions of its guardrail that are none, with their fields' paths."""
    guardrail = profile.spec.guardrail
    for number, rule in enumerate(guardrail.rules if guardrail else ()):
        where = f"spec.guardrail.rules[{number}]"
        try:
            if rule.regex is not None:
                regex.compile(rule.regex)
        except regex.error as error:
            yield Problem(f"{where}.regex", f"not a regular expression: {error}")
        try:
            if rule.glob is not None:
                glob_regex(anchored(rule.glob))
        except BadGlob as error:
            yield Problem(f"{where}.glob", str(error))
