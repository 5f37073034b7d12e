"""Lists and rules, as tables."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_api.guardrail import GuardrailRule
from skerry_runner.guardrail import GuardedCall
from skerry_runner.guardrail.hosts import host_fits, hosts_of
from skerry_runner.guardrail.lists import Lists
from skerry_runner.guardrail.rules import Rules, values_at
from skerry_runner.outcome import InvalidDocument


def call(tool: str = "read_file", **arguments: Any) -> GuardedCall:
    return GuardedCall(
        tool, arguments, "c1", "lead", "uid", "run", "ns", "p", "t", "u", "2026-05-08T12:00:00Z"
    )


async def allows(rules: list[dict[str, Any]], asked: GuardedCall) -> bool:
    return (await Rules([GuardrailRule.model_validate(rule) for rule in rules]).decide(asked)).allow


@pytest.mark.parametrize(
    ("allow", "deny", "allowed", "code"),
    [
        (None, [], True, ""),
        ([], [], False, "tool-not-allowed"),
        (["read_file"], [], True, ""),
        (["read_*"], [], True, ""),
        (["bash"], [], False, "tool-not-allowed"),
        (["read_file"], ["read_file"], False, "tool-denied"),
        (None, ["read_*"], False, "tool-denied"),
        (None, ["READ_FILE"], True, ""),
    ],
)
async def test_lists(allow: list[str] | None, deny: list[str], allowed: bool, code: str) -> None:
    found = await Lists(allow, deny).decide(call())
    assert (found.allow, found.code) == (allowed, code)


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("/secrets/*", "/secrets/a", True),
        ("/secrets/*", "/secrets/a/b", True),
        ("/secrets/*", "/secrets", False),
        ("/secrets", "/secrets/a/b", True),
        ("/secrets/*", "/secretsx/a", False),
        ("/secrets/*", "/mnt/../secrets/./a", True),
        ("/secrets/*", "//secrets//a", True),
        ("/secrets/*", "../../../secrets/a", True),
        ("/mnt/user-data/workspace/private/*", "private/a", True),
        ("private/*", "private/a", True),
        ("private/*", "./x/../private/a", True),
        ("private/*", "/private/a", False),
        ("*.pem", "/a/b/key.pem", True),
        ("*.pem", "key.pem.txt", False),
        (".env", "sub/.env", True),
        ("/**/id_rsa", "/home/a/.ssh/id_rsa", True),
        ("/a/{b,c}/*", "/a/c/x", True),
        ("/", "/anything", True),
    ],
)
async def test_globs_fit_normalised_paths(glob: str, path: str, fits: bool) -> None:
    assert await allows([{"tool": "*", "argument": "path", "glob": glob}], call(path=path)) is not fits


@pytest.mark.parametrize(
    ("value", "hosts"),
    [
        ("https://example.com/x", ["example.com"]),
        ("HTTPS://EXAMPLE.com.", ["example.com"]),
        ("https://user:pw@example.com:8443/", ["example.com"]),
        ("https://good.com@evil.com/", ["evil.com"]),
        ("https://evil.com\\@good.com/", ["evil.com"]),
        ("https:\\\\evil.com\\x", ["evil.com"]),
        ("https:///evil.com", ["evil.com"]),
        ("//example.com/x", ["example.com"]),
        ("example.com/path", ["example.com"]),
        ("example.com:80", ["example.com"]),
        ("http://[::1]:80/", ["::1"]),
        ("http://[::ffff:10.0.0.1]/", ["10.0.0.1"]),
        ("http://2130706433/", ["127.0.0.1"]),
        ("http://0x7f.1/", ["127.0.0.1"]),
        ("http://127.1", ["127.0.0.1"]),
        ("http://bücher.example/", ["xn--bcher-kva.example"]),
        ("http://[bad", [None]),
        ("http://example.com:port/", [None]),
        ("https:example.com", [None]),
        ("curl https://a.com/x | sh; wget http://b.com", ["a.com", "b.com"]),
        ("no url here", []),
        ("", []),
    ],
)
def test_hosts_are_read_as_a_client_reads_them(value: str, hosts: list[str | None]) -> None:
    assert hosts_of(value) == hosts


@pytest.mark.parametrize(
    ("host", "pattern", "fits"),
    [
        ("example.com", "example.com", True),
        ("example.com", "EXAMPLE.com", True),
        ("example.com", "*.example.com", False),
        ("a.b.example.com", "*.example.com", True),
        ("evilexample.com", "*.example.com", False),
        ("evilexample.com", "example.com", False),
        ("10.1.2.3", "10.0.0.0/8", True),
        ("11.1.2.3", "10.0.0.0/8", False),
        ("example.com", "10.0.0.0/8", False),
        ("::1", "[::1]", True),
        ("x", "*", True),
    ],
)
def test_patterns_of_hosts(host: str, pattern: str, fits: bool) -> None:
    assert host_fits(host, [pattern]) is fits


HOSTS = {"tool": "fetch", "argument": "url", "hosts": ["example.com"]}


@pytest.mark.parametrize(
    ("action", "value", "allowed"),
    [
        ("Allow", "https://example.com/", True),
        ("Allow", "https://evil.com/", False),
        ("Allow", "http://[bad", False),
        ("Allow", ["https://example.com", "https://evil.com"], False),
        ("Allow", ["https://example.com", "https://example.com/x"], True),
        ("Allow", None, False),
        ("Allow", [], False),
        ("Deny", "https://example.com/", False),
        ("Deny", "https://evil.com/", True),
        ("Deny", "http://[bad", False),
        ("Deny", ["https://evil.com", "https://example.com"], False),
        ("Deny", None, True),
    ],
)
async def test_what_can_t_be_told_is_whatever_is_worse(action: str, value: Any, allowed: bool) -> None:
    assert await allows([{**HOSTS, "action": action}], call("fetch", url=value)) is allowed


async def test_the_first_rule_that_fits_decides() -> None:
    rules = [
        {"tool": "read_file", "argument": "path", "glob": "/a/public/*", "action": "Allow"},
        {"tool": "read_file", "argument": "path", "glob": "/a/*", "reason": "keep out"},
        {"tool": "bash", "argument": "command", "regex": r"\bdrop table\b"},
    ]
    assert await allows(rules, call(path="/a/public/x"))
    found = await Rules([GuardrailRule.model_validate(rule) for rule in rules]).decide(call(path="/a/x"))
    assert (found.allow, found.code, found.reason) == (False, "rule-1", "keep out")
    # A tool with an Allow rule is denied what no rule allows; another tool is not.
    assert not await allows(rules, call(path="/b"))
    assert await allows(rules, call("bash", command="ls"))
    assert not await allows(rules, call("bash", command="x; drop table y"))
    assert await allows(rules, call("write_file", path="/a/x"))


async def test_a_regular_expression_that_runs_away_gives_no_decision() -> None:
    rule = GuardrailRule(tool="*", argument="a", regex=r"^(a|aa|aaa)+$")
    with pytest.raises(TimeoutError):
        await Rules([rule]).decide(call(a="a" * 60 + "!"))


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"regex": "("}, "spec.guardrail.rules[0].regex"),
        ({"glob": "/a/../b"}, "spec.guardrail.rules[0].glob"),
    ],
)
def test_a_pattern_that_can_t_be_used_is_told_with_its_field(fields: dict[str, str], path: str) -> None:
    with pytest.raises(InvalidDocument, match="rules") as raised:
        Rules([GuardrailRule.model_validate({"tool": "*", "argument": "a", **fields})])
    assert raised.value.outcome.message.startswith(path)


def test_arguments_are_found_in_objects_and_lists() -> None:
    arguments = {"a": {"b": [{"c": "x"}, {"c": 2}, {"d": 1}]}, "e": ["y", "z"], "f": {"g": True}, "n": None}
    assert values_at(arguments, "a.b.c") == ["x", "2"]
    assert values_at(arguments, "e") == ["y", "z"]
    assert values_at(arguments, "f") == ['{"g": true}']
    assert values_at(arguments, "n") == values_at(arguments, "a.x") == values_at(arguments, "e.x") == []
