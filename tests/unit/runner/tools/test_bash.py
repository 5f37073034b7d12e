"""bash: what the model reads of a command, from any sandbox."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from skerry_runner.paths import WORKSPACE
from skerry_runner.sandbox.errors import CommandTimeout
from skerry_runner.sandbox.types import Chunk, ExecResult, Source
from skerry_runner.tools.bash import how_ended, render_output, render_result
from skerry_testing.fakesandbox import Command, FakeSandbox, printed

CallTool = Callable[..., Awaitable[tuple[str, str]]]


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (printed("hello\n"), "hello"),
        (printed(""), "(no output)"),
        (printed(" \n\n"), "(no output)"),
        (printed("", exit_code=3), "Exit Code: 3"),
        (printed("no such file\n", exit_code=1), "no such file\nExit Code: 1"),
        (printed("  indented\n"), "  indented"),
    ],
)
def test_what_the_model_reads(result: ExecResult, text: str) -> None:
    assert render_result(result, 1000) == text
    assert how_ended(result, 1) is None


def test_output_keeps_its_order_and_its_odd_bytes() -> None:
    chunks = (
        Chunk(Source.STDOUT, b"\xe2\x82"), Chunk(Source.STDOUT, b"\xac\n"), Chunk(Source.STDERR, b"err\xff\x00\n"),
        Chunk(Source.GAP, dropped=7), Chunk(Source.STDOUT, b"end"),
    )  # fmt: skip
    assert render_output(chunks) == "€\nerr\\xff\\x00\n\n[7 bytes of output omitted]\nend"


@pytest.mark.parametrize("exit_code", [0, 1])
def test_long_output_is_cut_in_the_middle(exit_code: int) -> None:
    text = render_result(printed("a" * 600 + "b" * 600, exit_code=exit_code), 500)
    assert len(text) <= 500
    assert text.startswith("a" * 200)
    assert ("b" * 200 + ("\nExit Code: 1" if exit_code else "")) in text
    assert "characters left out" in text


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (printed("", timed_out=True, exit_code=None), "the command was ended after its timeout of 2.5 s"),
        (printed("", killed=True, exit_code=None), "the command was ended by a kill"),
        (ExecResult(None, "SIGKILL", (), 1), "the command was ended by SIGKILL"),
    ],
)
def test_a_command_that_did_not_end_by_itself(result: ExecResult, reason: str) -> None:
    assert how_ended(result, 2.5) == reason


async def test_a_timeout_is_an_error_with_the_output_so_far(fake: FakeSandbox, call_fake: CallTool) -> None:
    async def shell(command: Command) -> ExecResult:
        if command.command == "lost":
            raise CommandTimeout("no end was heard of", (Chunk(Source.STDOUT, b"some"),))
        return printed("half" if command.command == "half" else "", timed_out=True, exit_code=None)

    fake.shell = shell
    ended = "Error: the command was ended after its timeout of 600 s"
    assert await call_fake("bash", command="half") == ("error", f"{ended}; its output so far:\nhalf")
    assert await call_fake("bash", command="none") == ("error", f"{ended}, without output")
    assert await call_fake("bash", command="lost") == (
        "error",
        "Error: no end was heard of; its output so far:\nsome",
    )


async def test_where_and_how_long_it_runs(fake: FakeSandbox, call_fake: CallTool) -> None:
    for seconds in (None, 5, 99_999):
        await call_fake("bash", command="x", **({} if seconds is None else {"timeout_seconds": seconds}))
    assert [command.timeout_seconds for command in fake.commands] == [600, 5, 3600]
    assert {command.cwd for command in fake.commands} == {WORKSPACE}


@pytest.mark.parametrize(
    "args", [{}, {"command": 5}, {"command": ""}, {"command": "x", "timeout_seconds": 0}]
)
async def test_wrong_arguments_are_errors(
    fake: FakeSandbox, call_fake: CallTool, args: dict[str, object]
) -> None:
    status, _ = await call_fake("bash", **args)
    assert (status, fake.commands) == ("error", [])


async def test_real_commands_run_in_the_workspace(call_local: CallTool) -> None:
    assert await call_local("bash", command="echo hi > a.txt; cat a.txt; pwd") == (
        "success",
        f"hi\n{WORKSPACE}",
    )
    assert await call_local("bash", command="echo oops >&2; exit 4") == ("success", "oops\nExit Code: 4")
    assert await call_local("bash", command=r"printf '\377\000ok'") == ("success", "\\xff\\x00ok")
    status, text = await call_local("bash", command="echo on; exec sleep 600", timeout_seconds=1)
    assert (status, text.endswith("its output so far:\non")) == ("error", True)


async def test_bash_that_is_not_allowed_says_so(call_without_bash: CallTool) -> None:
    status, text = await call_without_bash("bash", command="echo hi")
    assert (status, text) == (
        "error",
        (
            "Error: Commands are switched off here: this sandbox is the user's own machine. "
            "The profile's sandbox.allowLocalBash would allow them."
        ),
    )
