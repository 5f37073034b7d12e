"""The core's edges on a laptop: a reporter that only keeps the end, a sandbox that is a directory."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from typing_extensions import override

from skerry_api.agentrun import Answer
from skerry_api.document import DocumentSandbox
from skerry_api.report import Progress, Question, RunArtifact, Usage
from skerry_runner.paths import SKILLS
from skerry_runner.ports import Questions, Reporter, RunResult, SandboxProvider, ThreadFiles
from skerry_runner.sandbox.types import Sandbox

__all__ = ["LocalQuestions", "LocalReporter", "LocalSandboxes"]


class LocalReporter(Reporter):
    """Nobody watches from outside: the journal shows how it goes, and the end is returned."""

    def __init__(self) -> None:
        self.result: RunResult | None = None

    @override
    async def started(self) -> None: ...

    @override
    def progress(
        self, progress: Progress, usage: Usage, artifacts: tuple[RunArtifact, ...] | None = None
    ) -> None: ...

    @override
    async def first_tool_call(self, progress: Progress, usage: Usage) -> None: ...

    @override
    async def sandbox_acquired(self, sandbox_id: str) -> None: ...

    @override
    async def ended(self, result: RunResult) -> None:
        self.result = result


class LocalQuestions(Questions):
    """Knows the answers that the run came with; for others the run stops, and is started again with `--answer`."""

    def __init__(self, answers: Iterable[Answer]) -> None:
        self._answers = {each.question_id: each.text for each in answers}

    @override
    async def ask(self, question: Question) -> str | None:
        return self._answers.get(question.id)


class LocalSandboxes(SandboxProvider):
    """The thread's directory; release keeps it for the next run of the thread."""

    def __init__(self, document: DocumentSandbox, folder: Path) -> None:
        self._document, self._folder = document, folder
        self._sandbox: Sandbox | None = None
        self._files: ThreadFiles | None = None

    @property
    @override
    def current(self) -> Sandbox | None:
        return self._sandbox

    @property
    @override
    def thread_files(self) -> ThreadFiles:
        if self._files is None:
            from skerry_runner.local.threadfiles import LocalThreadFiles

            self._files = LocalThreadFiles(self._folder)
        return self._files

    @override
    async def acquire(self) -> Sandbox:
        if self._sandbox is None:
            from skerry_runner.sandbox.local import LocalSandbox
            from skerry_runner.sandbox.mounts import Mount

            skills = self._folder.with_name("skills")
            skills.mkdir(parents=True, exist_ok=True)
            self._sandbox = LocalSandbox(
                self._document.sandbox_id, self._folder, allow_bash=self._document.allow_local_bash,
                mounts=[Mount(SKILLS, skills, writable=False)],
            )  # fmt: skip
        return self._sandbox

    @override
    async def release(self) -> None:
        sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            await sandbox.close()
