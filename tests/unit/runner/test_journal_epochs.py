"""One file of the journal over several epochs and runs, one of them killed: every line has a name of its own."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

from skerry_api.phases import OutcomeClass
from skerry_runner.checkpoint import memory_saver
from skerry_runner.journal import FileSink, Journal
from skerry_runner.run import run_document
from skerry_testing.runnerworld import AnsweringPeople, RunnerWorld, document

SCRIPT = "steps: [{toolCalls: [{name: ask_clarification, args: {question: 'Which?'}}]}, {say: done}]"


async def test_lines_of_all_epochs_and_runs_are_told_apart(world: RunnerWorld, tmp_path: Path) -> None:
    path, saver = tmp_path / "journal.jsonl", memory_saver()

    async def epoch(run: str, number: int) -> OutcomeClass:
        journal = Journal(
            [FileSink(path)], run=run, thread="thread-1", epoch=number, clock=world.clock
        )  # what is not ours (a line torn by a kill) is cut off here
        what = document(SCRIPT, run=run, epoch=number)
        result = await run_document(what, replace(world.ports(), journal=journal), checkpointer=saver)
        await journal.close()
        return result.outcome.class_

    assert await epoch("one", 1) is OutcomeClass.AWAITING_INPUT
    whole = path.read_bytes()
    killed = next(place for place, line in enumerate(whole.splitlines()) if b'"question"' in line)
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[: killed + 1]) + b'{"seq":')
    world.people = AnsweringPeople(["a"])
    assert await epoch("one", 2) is OutcomeClass.SUCCEEDED
    world.people = AnsweringPeople(["b"])
    assert await epoch("two", 1) is OutcomeClass.SUCCEEDED

    lines = [json.loads(line) for line in path.read_text().splitlines()]
    names = [(line["run"], line["epoch"], line["seq"]) for line in lines]
    assert len(set(names)) == len(names)
    for one in (("one", 1), ("one", 2), ("two", 1)):
        seqs = [seq for *of, seq in names if tuple(of) == one]
        assert seqs == list(range(1, len(seqs) + 1))
    ends = Counter((line["run"], line["epoch"]) for line in lines if line["type"] == "run.end")
    assert ends == {("one", 2): 1, ("two", 1): 1}
    assert [lines[place]["type"] for place in (names.index(("two", 1, 1)) - 1, -1)] == ["run.end", "run.end"]
