"""present_files: results for the user, in the order in which they were first presented."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable

import pytest

from skerry_api.phases import OutcomeClass
from skerry_runner.checkpoint import memory_saver
from skerry_runner.paths import OUTPUTS
from skerry_runner.pipeline import assemble
from skerry_runner.state import merge_artifacts
from skerry_runner.tools.present_files import present_files
from skerry_testing.rowrun import Played, play
from skerry_testing.runnerworld import RunnerWorld, document

CallTool = Callable[..., Awaitable[tuple[str, str]]]


async def test_files_are_presented_once_and_in_order(world: RunnerWorld) -> None:
    world.provider.sandbox.files = {f"{OUTPUTS}/{name}": b"x" for name in ("b.csv", "a.md", "d/c")}
    saver = memory_saver()

    async def present(run: str, *names: str) -> Played:
        paths = [f"{OUTPUTS}/{name}" for name in names]
        script = (
            f"steps: [{{toolCalls: [{{name: present_files, args: {{filepaths: {paths}}}}}]}}, {{say: ok}}]"
        )
        doc = document(script, run=run)
        return await play(world, doc, assemble(doc), tools=[present_files], saver=saver)

    await present("r1", "b.csv", "../outputs/b.csv", "a.md")
    world.provider.sandbox.files[f"{OUTPUTS}/a.md"] = b"xx"
    played = await present("r2", "d/c", "a.md")
    assert played.result.outcome.class_ is OutcomeClass.SUCCEEDED
    one, two = (hashlib.sha256(data).hexdigest() for data in (b"x", b"xx"))
    assert [list(each.values()) for each in played.state["artifacts"]] == [
        ["r1", f"{OUTPUTS}/b.csv", 1, "text/csv", one, False],
        ["r2", f"{OUTPUTS}/a.md", 2, "text/markdown", two, False],
        ["r2", f"{OUTPUTS}/d/c", 1, "application/octet-stream", one, False],
    ]
    shown = played.result.artifacts or ()
    assert [(each.path, each.available) for each in shown] == [
        (f"{OUTPUTS}/d/c", False),
        (f"{OUTPUTS}/a.md", False),
    ], "this run's alone"
    told = [tuple(each.path for each in said or ()) for said in world.reporter.presented]
    first = told.index((f"{OUTPUTS}/b.csv", f"{OUTPUTS}/a.md"))
    assert first < len(told) - 1, "told as soon as it was presented, while the run goes on"
    assert [e["path"].rpartition("/")[2] for e in world.sink.events("artifact")] == [
        "b.csv",
        "a.md",
        "c",
        "a.md",
    ]


async def test_parallel_calls_are_merged(world: RunnerWorld) -> None:
    world.provider.sandbox.files = {f"{OUTPUTS}/{name}": b"x" for name in "ab"}
    calls = ", ".join(f"{{name: present_files, args: {{filepaths: [{OUTPUTS}/{name}]}}}}" for name in "aba")
    doc = document(f"steps: [{{toolCalls: [{calls}]}}, {{say: ok}}]")
    played = await play(world, doc, assemble(doc), tools=[present_files])
    assert [artifact["path"] for artifact in played.state["artifacts"]] == [f"{OUTPUTS}/a", f"{OUTPUTS}/b"]


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ([], "at least 1"),
        ("x", "valid list"),
        ([f"{OUTPUTS}/a"] * 65, "at most 64"),
        ([f"{OUTPUTS}/a", "/mnt/user-data/workspace/w"], "not in /mnt/user-data/outputs"),
        ([f"{OUTPUTS}/a", f"{OUTPUTS}/../workspace/w"], "not in /mnt/user-data/outputs"),
        ([f"{OUTPUTS}/a", "/etc/passwd"], "outside /mnt/user-data"),
        ([OUTPUTS], "not in /mnt/user-data/outputs"),
        ([f"{OUTPUTS}2/a"], "not in /mnt/user-data/outputs"),
        ([f"{OUTPUTS}/a", f"{OUTPUTS}/none"], f"{OUTPUTS}/none"),
        ([f"{OUTPUTS}/a", f"{OUTPUTS}/d"], "irectory"),
    ],
)
async def test_one_bad_path_presents_nothing(call_tool: CallTool, paths: object, message: str) -> None:
    for name in ("outputs/a", "outputs/d/x", "workspace/w"):
        await call_tool("write_file", path=f"/mnt/user-data/{name}", content="x")
    status, text = await call_tool("present_files", filepaths=paths)
    assert (status, message in text) == ("error", True), text


def test_the_reducer() -> None:
    a, a2, b = ({"path": p, "size": s, "type": "t"} for p, s in (("a", 1), ("a", 2), ("b", 1)))
    assert merge_artifacts(None, None) == []
    assert merge_artifacts([a, b], [a2]) == [a2, b]  # type: ignore[list-item]  # plain dicts
