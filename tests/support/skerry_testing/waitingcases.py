"""What must hold of files that no sandbox has had yet, wherever state outlives a run. Stories, as in `resumecases`."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from typing_extensions import override

from skerry_api.document import RunDocument
from skerry_api.phases import OutcomeClass
from skerry_runner.files import GivenFile
from skerry_runner.ports import Ports, RunResult
from skerry_runner.run import run_document
from skerry_testing.resumecases import Keeping, interrupted
from skerry_testing.runnerworld import RunnerWorld, document

__all__ = ["WAITING_CASES"]

NOTES = GivenFile("notes.txt", b"given \xff\0")
QUIET = "steps: [{say: done}]"
WORKING = "steps: [{toolCalls: [{name: ls}]}, {say: done}]"


class Given(RunnerWorld):
    """Runs bring files along."""

    def __init__(self, *files: GivenFile, there: dict[str, bytes] | None = None) -> None:
        super().__init__()
        self.given = files
        self.provider.sandbox.files |= there or {}

    @override
    def ports(self) -> Ports:
        return replace(super().ports(), files=self.given)

    async def told(self, what: RunDocument, keeping: Keeping) -> RunResult:
        result = await run_document(what, self.ports(), **keeping)
        assert result.outcome.class_ is OutcomeClass.SUCCEEDED, result.outcome
        return result

    @property
    def files(self) -> dict[str, bytes]:
        return self.provider.sandbox.files

    def staged(self) -> list[tuple[str, str]]:
        return [(event["path"], event["status"]) for event in self.sink.events("file.staged")]


async def what_no_run_has_fetched_comes_with_the_thread_s_next_sandbox(keeping: Keeping) -> None:
    async with Given(NOTES) as world:
        await world.told(document(QUIET), keeping)
        assert world.provider.acquired == 0
    async with Given() as world:
        await world.told(document(QUIET, run="run-uid-2"), keeping)
    async with Given() as world:
        listed = WORKING.replace("[{toolCalls", "[{expect: {contains: ['notes.txt']}, toolCalls")
        await world.told(document(listed, run="run-uid-3"), keeping)
        assert (world.files, world.staged()) == ({NOTES.path: NOTES.data}, [(NOTES.path, "pushed")])
    # Once is enough: it may have been worked on.
    async with Given(there={NOTES.path: b"worked on"}) as world:
        await world.told(document(WORKING, run="run-uid-4"), keeping)
        assert (world.files, world.staged()) == ({NOTES.path: b"worked on"}, [])


async def the_newest_content_counts(keeping: Keeping) -> None:
    for number, data in ((1, b"old"), (2, b"new")):
        async with Given(GivenFile("a", data)) as world:
            await world.told(document(QUIET, run=f"run-uid-{number}"), keeping)
    path = GivenFile("a", b"").path
    async with Given(there={path: b"of a run before"}) as world:
        await world.told(document(WORKING, run="run-uid-3"), keeping)
        assert world.files == {path: b"new"}


async def an_epoch_that_fetched_nothing_leaves_it_to_the_next(keeping: Keeping) -> None:
    script = "steps:\n- {say: first, toolCalls: [{name: read_file, args: {path: /nowhere}}]}\n- {say: x, delaySeconds: 600}\n"
    asked = asyncio.Event()
    async with Given(NOTES) as world:
        task = asyncio.create_task(interrupted(world, document(script), keeping, asked))
        while len(world.sink.events("model.request")) < 2:
            await asyncio.sleep(0)
            await world.journal.flush()
        asked.set()
        await task
        assert world.provider.acquired == 0
    # A file of that name from a run before is no reason to keep back this run's.
    script = "steps:\n- {say: first, toolCalls: [{name: read_file, args: {path: /nowhere}}]}\n- {toolCalls: [{name: ls}]}\n- {say: x}\n"
    async with Given(NOTES, there={NOTES.path: b"of a run before"}) as world:
        await world.told(document(script, epoch=2), keeping)
        assert world.files == {NOTES.path: NOTES.data}


WAITING_CASES = [
    what_no_run_has_fetched_comes_with_the_thread_s_next_sandbox,
    the_newest_content_counts,
    an_epoch_that_fetched_nothing_leaves_it_to_the_next,
]
