"""`skerry run`: files in, a run on this machine, the AgentRun with its final status out."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from skerry_api.agentrun import AgentRun
from skerry_api.document import RunDocument
from skerry_api.persistence import PersistenceType
from skerry_api.phases import RunPhase
from skerry_api.problems import Problem
from skerry_cli.inputs import read_documents, read_files, read_script
from skerry_cli.output import Output
from skerry_cli.resume import Resumed, resumed
from skerry_cli.show import show
from skerry_runner.journal import FileSink, Journal, Sink
from skerry_runner.local.assignment import Assignment, Options, assign
from skerry_runner.local.execute import execute
from skerry_runner.local.openquestion import OpenQuestion, keep
from skerry_runner.local.progress import ProgressSink
from skerry_runner.local.status import with_journal_fault
from skerry_runner.local.threads import ThreadBusy, default_data_dir, held_thread, thread_folder
from skerry_runner.local.yamldoc import FileProblem
from skerry_runner.ports import Ports, RunResult
from skerry_runner.pruning import JOURNAL, prune

__all__ = ["Request", "run_locally"]

BAD_INPUT = 2
_EXIT_CODES = {RunPhase.SUCCEEDED: 0, RunPhase.AWAITING_INPUT: 3}


@dataclass(frozen=True)
class Request:
    """The options of the command."""

    files: tuple[str, ...]
    script: Path | None = None
    given: tuple[str, ...] = ()
    """NAME=PATH, as `--file` takes it."""
    thread: str | None = None
    data_dir: Path | None = None
    journal: Path | None = None
    output: Output = Output.TEXT
    answer: str | None = None
    """To the question with which the thread's last run stopped."""


def run_locally(request: Request) -> int:
    """Execute the run of the files; the exit code."""
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s", stream=sys.stderr)
    uid, now = str(uuid4()), _now()
    documents, problems = read_documents(request.files)
    script, script_problems = read_script(request.script)
    given, given_problems = read_files(request.given)
    problems += script_problems + given_problems
    if not documents and not problems:
        problems.append(
            FileProblem(", ".join(request.files), None, "", Problem("", "no AgentRun in the files"))
        )
    if problems:
        return _refuse(problems)
    options = Options(script, request.thread, given)

    def assigned(uid: str, epoch: int = 1) -> Assignment | list[FileProblem]:
        return assign(documents, options, os.environ, uid=uid, now=now, epoch=epoch)

    assignment = assigned(uid)
    if not isinstance(assignment, Assignment):
        return _refuse(assignment)
    data_dir = request.data_dir or default_data_dir(os.environ, Path.home())
    folder = thread_folder(data_dir, assignment.document.sandbox.sandbox_id)
    try:
        with held_thread(folder):
            asked: OpenQuestion | None = None
            if request.answer is not None:
                found = resumed(request.answer, folder, assignment, assigned)
                if not isinstance(found, Resumed):
                    return _refuse(found)
                assignment, asked = found.assignment, found.asked
            done = asyncio.run(_carry_out(assignment, data_dir, folder, request, asked))
            keep(folder, done)
    except ThreadBusy as error:
        print(f"skerry: thread {assignment.document.thread_id}: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"skerry: {error}", file=sys.stderr)
        return BAD_INPUT
    show(done, request.output, folder)
    return _EXIT_CODES.get(done.status.phase or RunPhase.FAILED, 1)


def _now() -> datetime:
    return datetime.now(UTC)


def _refuse(problems: list[FileProblem]) -> int:
    for problem in problems:
        print(problem.text(), file=sys.stderr)
    return BAD_INPUT


def _secrets(assignment: Assignment) -> list[str | None]:
    if not assignment.headers:
        return [assignment.api_key]
    from skerry_runner.headers import header_values

    return [assignment.api_key, *header_values(assignment.document, assignment.headers)]


class _JournalFault:
    """The run goes on; whoever watches it knows that its journal has a gap. `last` is how it stands."""

    last: str | None = None

    def __call__(self, fault: str | None) -> None:
        self.last = fault
        if fault is not None:
            print(f"skerry: journal: {fault}", file=sys.stderr)


async def _carry_out(
    assignment: Assignment, data_dir: Path, folder: Path, request: Request, asked: OpenQuestion | None
) -> AgentRun:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal(number: int) -> None:
        stop.set()
        # A second one is meant: it ends the process as if nobody listened.
        loop.remove_signal_handler(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal, number)
    prune(folder, assignment.document.run.uid, assignment.document.keep_runs)
    sinks: list[Sink] = [FileSink(request.journal or folder / JOURNAL)]
    if request.output is Output.TEXT:
        sinks.append(ProgressSink(sys.stderr))
    document, fault = assignment.document, _JournalFault()
    journal = Journal(
        sinks, run=document.run.uid, thread=document.thread_id, epoch=document.run.epoch, clock=_now,
        secrets=_secrets(assignment), on_fault=fault,
    )  # fmt: skip

    async def carry_out(document: RunDocument, ports: Ports) -> RunResult:
        from skerry_runner.memory.stores import open_sqlite_store
        from skerry_runner.persistence.opening import StatePlace
        from skerry_runner.run import run_document

        # Whatever the profile says of a cluster: here a thread's folder is what is kept of it.
        place = StatePlace(PersistenceType.VOLUME, folder)
        return await run_document(
            document, ports, api_key=assignment.api_key, environ=assignment.headers, place=place,
            open_memory=lambda: open_sqlite_store(data_dir),
        )  # fmt: skip

    try:
        done = await execute(
            assignment, folder, carry_out=carry_out, journal=journal, stop=stop, clock=_now,
            new_id=lambda: str(uuid4()), resumes=asked,
        )  # fmt: skip
    finally:
        await journal.close()
    return with_journal_fault(done, fault.last, _now())
