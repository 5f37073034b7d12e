"""The parser against bash itself, and against another one."""

from __future__ import annotations

import json
import subprocess

import pytest
import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from skerry_runner.audit.parse import parse
from skerry_runner.audit.scan import Budget, TooComplexError
from skerry_runner.audit.syntax import (
    Arithmetic,
    Compound,
    Literal,
    Parameter,
    Part,
    Process,
    Script,
    Simple,
    Substitution,
    Word,
)
from skerry_testing.controlplane import ROOT

COMMANDS = [
    json.loads(line)["command"]
    for name in ("pass", "warn", "block")
    for line in (ROOT / f"tests/data/audit/{name}.jsonl").read_text(encoding="utf-8").splitlines()
]
OTHER = Parser(Language(tree_sitter_bash.language()))
TOO_MUCH_FOR_IT = ("\\\n", "<<", "<&", "time", "coproc", "\r", "for((", "for(", "{rm", "$(<", "196")
"""What tree-sitter's grammar reads otherwise than bash does."""


def names(script: Script) -> list[str]:
    """First words of the commands, as far as they are plain words."""
    found: list[str] = []
    for item in script:
        for command in item.pipeline.commands:
            if isinstance(command, Simple):
                found += named(command)
            else:
                found += [*names(command.head), *names(command.body)]
                found += [n for word in command.words for n in inside(word)]
            found += [n for redirect in command.redirects for n in inside(redirect.target)]
    return found


def named(command: Simple) -> list[str]:
    first = command.words[0] if command.words else ()
    own = [first[0].text] if len(first) == 1 and isinstance(first[0], Literal) and not first[0].quoted else []
    values = [word for assign in command.assigns for word in assign.values]
    return own + [n for word in [*values, *command.words] for n in inside(word)]


def inside(word: Word) -> list[str]:
    return [n for part in word for n in within(part)]


def within(part: Part) -> list[str]:
    if isinstance(part, Substitution | Process):
        return names(part.script)
    if isinstance(part, Arithmetic):
        return inside(part.parts)
    return inside(part.arg) if isinstance(part, Parameter) else []


def theirs(root: Node, text: bytes) -> set[str]:
    found: set[str] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "command_name" and node.children and node.children[0].type == "word":
            found.add(text[node.start_byte : node.end_byte].decode())
        waiting += node.children
    return {name for name in found if "\\" not in name}


def test_no_command_that_another_parser_finds_is_missed() -> None:
    compared = 0
    for command in COMMANDS:
        text = command.encode("utf-8", "replace")
        root = OTHER.parse(text).root_node
        if root.has_error or any(mark in command for mark in TOO_MUCH_FOR_IT):
            continue
        compared += 1
        missed = theirs(root, text) - set(names(parse(command, Budget(10_000)).script))
        assert not missed, command
    assert compared > 900


def test_what_bash_refuses_is_broken_and_what_it_takes_is_not() -> None:
    wrong = []
    for command in COMMANDS:
        takes = (
            subprocess.run(["bash", "-n", "-c", command], capture_output=True, check=False).returncode == 0
        )
        broken = parse(command, Budget(10_000)).broken
        if takes and broken:
            wrong.append(command)
    assert wrong == []


@pytest.mark.parametrize(
    "text",
    [
        "echo 'a",
        'echo "a',
        "echo $(a",
        "echo `a",
        "(a",
        "{ a",
        "if a; then b",
        "for i in a",
        "a=(b",
        "echo ${a",
        "a )",
        "case a in",
    ],
)
def test_what_is_not_closed_is_marked(text: str) -> None:
    assert parse(text, Budget(100)).broken


def test_here_documents_belong_to_their_commands() -> None:
    script = parse("cat <<A <<'B' | sh\n$x\nA\n$y\nB\nls", Budget(100)).script
    first = script[0].pipeline.commands[0]
    assert isinstance(first, Simple)
    bodies = [redirect.body for redirect in first.redirects]
    assert bodies == [
        (Parameter("x", quoted=True), Literal("\n", quoted=True)),
        (Literal("$y\n", quoted=True),),
    ]
    assert names(script) == ["cat", "sh", "ls"]


def test_compound_commands_keep_their_parts() -> None:
    (item,) = parse("while a; do b & done > f", Budget(100)).script
    (loop,) = item.pipeline.commands
    assert isinstance(loop, Compound)
    assert (loop.kind, names(loop.head), names(loop.body), loop.body[0].background) == (
        "while",
        ["a"],
        ["b"],
        True,
    )
    assert [redirect.op for redirect in loop.redirects] == [">"]


def test_the_budget_ends_it() -> None:
    with pytest.raises(TooComplexError):
        parse("a;" * 100, Budget(50))
