"""ToolOutputBudget in runs: where long results go, with and without a sandbox, and what the model sees of them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.types import Command as GraphCommand
from typing_extensions import override

from skerry_api.phases import OutcomeClass
from skerry_api.rows.tooloutputbudget import ToolBudget, ToolOutputBudgetSettings
from skerry_runner.checkpoint import memory_saver
from skerry_runner.middleware.sandbox import Sandbox
from skerry_runner.middleware.tooloutputbudget import EXTERNALIZED, ToolOutputBudget
from skerry_runner.pipeline import assemble
from skerry_runner.sandbox.errors import NoSpace, SandboxReplaced, SandboxUnavailable
from skerry_runner.sandbox.types import ExecResult
from skerry_runner.tools.call import Runtime, context_of
from skerry_testing.fakesandbox import Command, FakeSandbox, printed
from skerry_testing.rowrun import Played, placed, play
from skerry_testing.runnerworld import RunnerWorld, document

SETTINGS = ToolOutputBudgetSettings(
    externalize_min_chars=1000, preview_head_chars=100, preview_tail_chars=50,
    fallback_max_chars=3000, fallback_head_chars=800, fallback_tail_chars=300,
    tools=(ToolBudget(name="never", externalize_min_chars=0), ToolBudget(name="early", externalize_min_chars=600)),
)  # fmt: skip
TEXT = "".join(f"line {number}\n" for number in range(1000))
FOLDER = "/mnt/user-data/outputs/.tool-results/"


def giving(name: str, result: Any, *, acquire: bool = False) -> BaseTool:
    """A tool that gives this; a string, blocks, or a function of the call's id."""

    @tool(name)
    async def give(runtime: Runtime) -> Any:
        """Give."""
        if acquire:
            await context_of(runtime).sandbox.acquire()
        return result(runtime.tool_call_id) if callable(result) else result

    return give


def messages_of(played: Played) -> list[ToolMessage]:
    return [message for message in played.messages if isinstance(message, ToolMessage)]


async def run(
    world: RunnerWorld,
    *tools: BaseTool,
    script: str | None = None,
    settings: ToolOutputBudgetSettings = SETTINGS,
) -> Played:
    calls = ", ".join(f"{{name: {each.name}}}" for each in tools)
    doc = document(script or f"steps: [{{toolCalls: [{calls}]}}, {{say: done}}]")
    rows = placed(doc, {"RunGate": ToolOutputBudget(settings)})
    played = await play(world, doc, rows, tools=tools)
    assert played.result.outcome.class_ is OutcomeClass.SUCCEEDED, played.result.outcome
    assert world.sink.events("pipeline.fault") == []
    return played


async def test_in_a_sandbox_it_is_written_there(world: RunnerWorld) -> None:
    (message,) = messages_of(await run(world, giving("big", TEXT, acquire=True)))
    path = message.additional_kwargs[EXTERNALIZED]["path"]
    assert world.provider.sandbox.files == {path: TEXT.encode()}
    assert path.startswith(FOLDER + "big-")
    text = str(message.content)
    assert path in text
    assert f"{len(TEXT)} characters, 1000 lines" in text
    assert "It begins:\nline 0\nline 1" in text
    assert text.endswith("line 998\nline 999\n")
    assert len(text) < 700


async def test_without_a_sandbox_it_waits_and_none_is_acquired(world: RunnerWorld) -> None:
    (message,) = messages_of(await run(world, giving("big", TEXT)))
    assert world.provider.acquired == 0
    assert EXTERNALIZED in message.additional_kwargs


async def test_what_waited_is_there_when_the_agent_reads_it(world: RunnerWorld) -> None:
    script = "steps: [{toolCalls: [{name: big}]}, {toolCalls: [{name: read_big}]}, {say: done}]"

    @tool("read_big")
    async def read_big(runtime: Runtime) -> str:
        """Read it."""
        path = runtime.state["messages"][-2].additional_kwargs[EXTERNALIZED]["path"]
        sandbox = await context_of(runtime).sandbox.acquire()
        return str(len(await sandbox.read_file(path)))

    played = await run(world, giving("big", TEXT), read_big, script=script)
    assert messages_of(played)[1].content == str(len(TEXT))


async def test_where_the_runner_has_the_files_it_is_written_at_once(world: RunnerWorld) -> None:
    world.provider.thread_files = FakeSandbox()
    (message,) = messages_of(await run(world, giving("big", TEXT)))
    assert world.provider.thread_files.files == {
        message.additional_kwargs[EXTERNALIZED]["path"]: TEXT.encode()
    }
    assert world.provider.acquired == 0


class Refusing(FakeSandbox):
    def __init__(self, error: Exception | None) -> None:
        super().__init__()
        self.error = error

    @override
    async def write_file(self, path: str, data: bytes, *, append: bool = False) -> int:
        if self.error is None:
            self.files[path] = b""
            return len(data)
        raise self.error


@pytest.mark.parametrize(
    "error",
    [NoSpace("x", "full"), SandboxUnavailable("silent"), SandboxReplaced(may_have_run=True), None],
    ids=["full", "silent", "replaced", "lies"],
)
async def test_what_can_not_be_written_is_cut_in_place(world: RunnerWorld, error: Exception | None) -> None:
    world.provider.sandbox = Refusing(error)
    (message,) = messages_of(await run(world, giving("big", TEXT, acquire=True)))
    text = str(message.content)
    assert len(text) <= 3000
    assert text.startswith("line 0\n")
    assert text.endswith("line 999\n")
    assert "no file could be written" in text
    assert FOLDER not in text
    assert EXTERNALIZED not in message.additional_kwargs
    assert len(world.sink.events("sandbox.replaced")) == isinstance(error, SandboxReplaced)


async def test_a_failing_disk_below_the_fallback_s_limit_loses_nothing(world: RunnerWorld) -> None:
    world.provider.sandbox = Refusing(NoSpace("x", "full"))
    (message,) = messages_of(await run(world, giving("big", "x" * 2999, acquire=True)))
    assert message.content == "x" * 2999


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("exact", "x" * 1000),
        ("early", "x" * 600),
        ("image", [{"type": "text", "text": "x" * 2000}, {"type": "image", "base64": "aGk=", "mime_type": "image/png"}]),
    ],
)  # fmt: skip
async def test_what_is_left_alone(world: RunnerWorld, name: str, result: Any) -> None:
    (message,) = messages_of(await run(world, giving(name, result)))
    assert message.content == result
    assert message.additional_kwargs == {}


async def test_reading_files_is_exempt_or_it_would_never_end(world: RunnerWorld) -> None:
    (message,) = messages_of(await run(world, giving("read_file", TEXT)))
    assert message.content == TEXT


@pytest.mark.parametrize(
    ("name", "chars", "written"), [("exact", 1001, True), ("early", 601, True), ("never", 2999, False)]
)
async def test_thresholds_of_tools(world: RunnerWorld, name: str, chars: int, written: bool) -> None:
    (message,) = messages_of(await run(world, giving(name, "x" * chars)))
    assert (EXTERNALIZED in message.additional_kwargs) is written
    if not written:
        assert message.content == "x" * chars


async def test_never_to_a_file_still_has_a_limit(world: RunnerWorld) -> None:
    (message,) = messages_of(await run(world, giving("never", TEXT)))
    assert len(str(message.content)) <= 3000


async def test_a_command_keeps_all_but_its_long_message(world: RunnerWorld) -> None:
    def command(call: str) -> GraphCommand[Any]:
        message = ToolMessage(
            TEXT,
            tool_call_id=call,
            name="big",
            id="m7",
            artifact={"a": 1},
            status="error",
            additional_kwargs={"k": 1},
        )
        return GraphCommand(update={"messages": [message], "todos": [{"content": "x", "status": "pending"}]})

    played = await run(world, giving("big", command, acquire=True))
    (message,) = messages_of(played)
    assert (message.id, message.artifact, message.status) == ("m7", {"a": 1}, "error")
    assert message.additional_kwargs.keys() == {"k", EXTERNALIZED}
    assert played.state["todos"] == [{"content": "x", "status": "pending"}]
    # The Sandbox row inside has made a Command of its own, which came through too.
    assert played.state["sandbox"] == {"id": "sbx-1"}


async def test_blocks_of_text_count_as_one_text(world: RunnerWorld) -> None:
    blocks = [{"type": "text", "text": "x" * 600}, {"type": "text", "text": "y" * 600}]
    (message,) = messages_of(await run(world, giving("big", blocks, acquire=True)))
    assert world.provider.sandbox.files == {
        message.additional_kwargs[EXTERNALIZED]["path"]: b"x" * 600 + b"\n" + b"y" * 600
    }


async def test_odd_characters_reach_the_file(world: RunnerWorld) -> None:
    await run(world, giving("big", "\ud800" + "é" * 1000, acquire=True))
    assert list(world.provider.sandbox.files.values()) == [b"\\ud800" + "é".encode() * 1000]


async def test_ten_megabytes(world: RunnerWorld) -> None:
    (message,) = messages_of(await run(world, giving("big", "x" * 10_000_000, acquire=True)))
    assert len(str(message.content)) < 700
    assert [len(data) for data in world.provider.sandbox.files.values()] == [10_000_000]


async def test_many_at_once(world: RunnerWorld) -> None:
    played = await run(
        world, *(giving(f"t{number}", f"{number}" + TEXT, acquire=True) for number in range(5))
    )
    paths = [message.additional_kwargs[EXTERNALIZED]["path"] for message in messages_of(played)]
    assert world.provider.sandbox.files == {path: f"{n}{TEXT}".encode() for n, path in enumerate(paths)}


async def test_the_request_is_trimmed_and_the_state_is_not(world: RunnerWorld) -> None:
    """A history from before the row was on, or with other settings."""
    saver = memory_saver()
    big = giving("big", TEXT)
    doc = document("steps: [{toolCalls: [{name: big}]}, {say: done}]")
    await play(world, doc, placed(doc, {}), tools=[big], saver=saver)
    doc = document(
        "steps: [{expect: {contains: ['left out: the result is too long to be repeated here']}, say: ok}]",
        run="run-uid-2",
    )
    played = await play(
        world, doc, placed(doc, {"RunGate": ToolOutputBudget(SETTINGS)}), tools=[big], saver=saver
    )
    assert played.result.outcome.class_ is OutcomeClass.SUCCEEDED, played.result.outcome
    assert [message.content for message in messages_of(played)] == [TEXT]


async def test_cancelling_while_a_file_is_written_cancels(world: RunnerWorld) -> None:
    writing = asyncio.Event()

    class Stuck(FakeSandbox):
        @override
        async def write_file(self, path: str, data: bytes, *, append: bool = False) -> int:
            writing.set()
            await asyncio.Event().wait()
            return 0

    world.provider.sandbox = Stuck()
    task = asyncio.create_task(run(world, giving("big", TEXT, acquire=True)))
    await writing.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (world.provider.acquired, world.provider.released) == (1, 1)


def test_it_stands_outside_the_sandbox_row() -> None:
    names = [row.name for row in placed(document(), {"RunGate": ToolOutputBudget(SETTINGS)})]
    assert names.index("ToolOutputBudget") == 1 < names.index(Sandbox().name)


@pytest.mark.parametrize(
    ("budget", "shortest", "longest", "to_file"),
    [({"exemptTools": ["bash"]}, 19_000, 20_000, False), ({"enabled": False}, 19_000, 20_000, False), ({}, 2000, 4000, True)],
)  # fmt: skip
async def test_bash_is_limited_by_the_row_or_by_itself(
    world: RunnerWorld, budget: dict[str, Any], shortest: int, longest: int, *, to_file: bool
) -> None:
    async def flood(_command: Command) -> ExecResult:
        return printed("0123456789" * 10_000)

    world.provider.sandbox.shell = flood
    doc = document(
        "steps: [{toolCalls: [{name: bash, args: {command: flood}}]}, {say: done}]",
        pipeline={"toolOutputBudget": budget},
    )
    (message,) = messages_of(await play(world, doc, assemble(doc)))
    assert shortest <= len(str(message.content)) <= longest
    assert (EXTERNALIZED in message.additional_kwargs) is to_file
