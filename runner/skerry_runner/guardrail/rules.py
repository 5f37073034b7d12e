"""Rules on arguments: the first that fits a call decides; a tool with Allow rules is denied what none of them fits."""

from __future__ import annotations

import asyncio
import json
import posixpath
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import regex  # type: ignore[import-untyped]  # it has no types

from skerry_api.filesearch.globs import BadGlob, glob_regex
from skerry_api.guardrail import GuardrailAction, GuardrailRule
from skerry_runner.guardrail.hosts import host_fits, hosts_of
from skerry_runner.guardrail.types import ALLOWED, Decision, GuardedCall, denied
from skerry_runner.outcome import InvalidDocument
from skerry_runner.paths import WORKSPACE

__all__ = ["REGEX_SECONDS", "Rules", "anchored", "values_at"]

REGEX_SECONDS = 0.2
VALUES_MAX = 1000
TEXT_MAX = 100_000
_REASON = "InvalidGuardrail"


def values_at(arguments: Mapping[str, Any], path: str) -> list[str]:
    """The values of an argument as texts: of a list each, of what is no text its JSON."""
    places: list[Any] = [arguments]
    for step in path.split("."):
        places = [
            one[step]
            for place in places
            for one in (place if isinstance(place, list) else [place])
            if isinstance(one, Mapping) and one.get(step) is not None
        ]
    flat = [one for place in places for one in (place if isinstance(place, list) else [place])]
    return [one if isinstance(one, str) else json.dumps(one, default=str) for one in flat]


class _Test:
    """What one rule says of one value."""

    def __init__(self, rule: GuardrailRule, where: str) -> None:
        self.rule = rule
        try:
            self._regex = regex.compile(rule.regex) if rule.regex is not None else None
        except regex.error as error:
            raise InvalidDocument(_REASON, f"{where}.regex", str(error)) from None
        try:
            self._glob = glob_regex(anchored(rule.glob)) if rule.glob is not None else None
        except BadGlob as error:
            raise InvalidDocument(_REASON, f"{where}.glob", str(error)) from None

    def fits(self, value: str) -> bool:
        """Whether the value fits; of several hosts all to be allowed, one to be denied.

        Raises:
            TimeoutError: the regular expression takes too long.
        """
        if self._regex is not None:
            return self._regex.search(value[:TEXT_MAX], timeout=REGEX_SECONDS, concurrent=True) is not None
        if self._glob is not None:
            path = posixpath.normpath(posixpath.join(WORKSPACE, value)).lstrip("/")
            places = [path]
            while path := posixpath.dirname(path):
                places.append(path)
            return any(self._glob.match(place) for place in places)
        denies = self.rule.action is GuardrailAction.DENY
        hosts = hosts_of(value)
        # A host that can't be told is whatever is worse.
        found = [denies if host is None else host_fits(host, self.rule.hosts) for host in hosts]
        return any(found) if denies else bool(found) and all(found)


def anchored(glob: str) -> str:
    """The pattern as it is held to absolute paths without their first slash."""
    if glob.startswith("/"):
        return glob[1:] or "**"
    return f"{WORKSPACE[1:]}/{glob}" if "/" in glob.rstrip("/") else glob


class Rules:
    """The rules of a profile.

    Raises:
        InvalidDocument: a pattern can't be used.
    """

    def __init__(self, rules: Sequence[GuardrailRule]) -> None:
        self._tests = [_Test(rule, f"spec.guardrail.rules[{index}]") for index, rule in enumerate(rules)]

    async def decide(self, call: GuardedCall) -> Decision:
        """See GuardrailProvider. Regular expressions are looked for off the event loop, and without its lock."""
        slow = any(test.rule.regex is not None for test in self._tests)
        return await asyncio.to_thread(self._decided, call) if slow else self._decided(call)

    def _decided(self, call: GuardedCall) -> Decision:
        limited = False
        for index, test in enumerate(self._tests):
            rule = test.rule
            if not fnmatchcase(call.tool, rule.tool):
                continue
            values = values_at(call.arguments, rule.argument)
            if len(values) > VALUES_MAX:
                return denied(f"rule-{index}", f"the argument {rule.argument} has too many values to look at")
            allows = rule.action is GuardrailAction.ALLOW
            limited = limited or allows
            found = [test.fits(value) for value in values]
            if allows and found and all(found):
                return ALLOWED
            if not allows and any(found):
                words = rule.reason or f"a rule of the profile denies this value of {rule.argument}"
                return denied(f"rule-{index}", words)
        if limited:
            return denied("no-rule-allows", "no rule of the profile allows these arguments")
        return ALLOWED
