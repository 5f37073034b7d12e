"""The outside of a runner's Pod in memory: a Session over a MemoryRunPort, its core given by the test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

from skerry_api.document import RunDocument
from skerry_api.report import TerminationReport
from skerry_runner.cluster.environment import Environment, Identity
from skerry_runner.cluster.pace import Pace
from skerry_runner.cluster.session import CarryOut, ClosingJournal, Session
from skerry_runner.events import Event
from skerry_runner.journal import OnFault
from skerry_testing.runport import POD_UID, RUN_UID, MemoryRunPort

QUICK = Pace(progress=3600, final=3600, leaving=3600, backoff_first=0.001, backoff_most=0.01)
DOCUMENT = {
    "run": {"namespace": "ns", "name": "r", "uid": RUN_UID, "generation": 1, "epoch": 1},
    "userId": "default", "threadId": "t", "profile": "p", "prompt": "hi", "model": {"name": "scripted"},
    "sandbox": {"sandboxId": "sbx-1", "className": "default", "acquire": "Lazy"},
    "tools": ["bash"], "maxTurns": 3,
}  # fmt: skip


class MemoryJournal:
    """Keeps events; says whether it was closed."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.closed = False

    def emit(self, event: Event, *, agent: str = "lead") -> None:
        self.events.append(event)

    async def flush(self) -> None: ...

    async def close(self) -> None:
        self.closed = True


class Pod:
    """The outside of one session."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = MemoryRunPort()
        self.terminated = asyncio.Event()
        self.journal = MemoryJournal()
        self.open_journal: Callable[[OnFault], ClosingJournal] | None = None
        """Another journal than `journal`."""
        self.documents: list[RunDocument] = []
        self.write(json.dumps(DOCUMENT))

    def write(self, document: str) -> None:
        (self.folder / "document.json").write_text(document)

    def session(self, carry_out: CarryOut, pace: Pace = QUICK) -> Session:
        env = Environment(
            identity=Identity("ns", "r", 1, pod_uid=POD_UID, node="n1"),
            api_server="http://unused",
            service_account=self.folder,
            document=self.folder / "document.json",
            state=self.folder,
            termination_log=self.folder / "termination-log",
        )
        return Session(env, self.port, carry_out, self._open, self.terminated, pace)

    def _open(self, document: RunDocument, on_fault: OnFault) -> ClosingJournal:
        self.documents.append(document)
        return self.open_journal(on_fault) if self.open_journal else self.journal

    @property
    def termination(self) -> TerminationReport | None:
        log = self.folder / "termination-log"
        return TerminationReport.model_validate_json(log.read_text()) if log.exists() else None
