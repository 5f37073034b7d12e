"""What the runner says in status, as one value: how it starts, how it changes, how it is written. Pure.

A server-side apply drops what it omits, so every write is the whole value.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from skerry_api.privacy import Privacy
from skerry_api.report import (
    JOURNAL_FAULT_MAX,
    Progress,
    Question,
    RunArtifact,
    RunnerStatus,
    SandboxRequest,
    Usage,
)
from skerry_runner.cluster.environment import Identity
from skerry_runner.cluster.privacy import by_reference
from skerry_runner.cluster.view import RunView
from skerry_runner.ports import RunResult

__all__ = ["Report", "seed"]


@dataclass(frozen=True, slots=True)
class Report:
    """The runner's whole share of status."""

    runner: RunnerStatus
    sandbox_id: str | None = None
    privacy: Privacy = Privacy.FULL
    answer_id: str | None = None
    """Of the message whose text the answer is."""
    earlier: Progress = field(default_factory=Progress)
    """Where the epoch before this one stood."""

    def wire(self) -> dict[str, Any]:
        """The status to apply."""
        named = {} if self.sandbox_id is None else {"sandboxId": self.sandbox_id}
        told = self.runner if self.privacy is Privacy.FULL else by_reference(self.runner, self.answer_id)
        return named | {"runner": told.wire()}

    def counted(
        self, progress: Progress, usage: Usage, artifacts: tuple[RunArtifact, ...] | None = None
    ) -> Report:
        """Without artifacts those that stand there stay: their copies do."""
        return self._with(
            progress=self.further(progress), usage=usage, artifacts=artifacts or self.runner.artifacts
        )

    def asking(self, request: SandboxRequest) -> Report:
        return self._with(sandbox_request=request)

    def journal(self, fault: str | None) -> Report:
        return self._with(journal_fault=None if fault is None else fault[:JOURNAL_FAULT_MAX])

    def awaiting(self, question: Question | None) -> Report:
        """Ask people; None once they have answered."""
        return self._with(question=question)

    def working_in(self, sandbox_id: str) -> Report:
        return replace(self, sandbox_id=sandbox_id)

    def ended(self, result: RunResult) -> Report:
        told = self._with(
            progress=self.further(result.progress),
            usage=result.usage,
            question=result.question,
            answer=result.answer,
            outcome=result.outcome,
            stop_reason=result.stop_reason,
            artifacts=result.artifacts or self.runner.artifacts,
        )
        return replace(told, sandbox_id=result.sandbox_id or self.sandbox_id, answer_id=result.answer_id)

    def further(self, progress: Progress) -> Progress:
        """Calls of tools are counted anew by each epoch, and a title is made once for a thread; the run's are told.

        From the calls the operator knows, too, that the run can't begin anew.
        """
        calls = self.earlier.tool_calls + progress.tool_calls
        return progress.model_copy(
            update={"tool_calls": calls, "title": progress.title or self.earlier.title}
        )

    def _with(self, **changes: Any) -> Report:
        return replace(self, runner=self.runner.model_copy(update=changes))


def seed(live: RunView, identity: Identity, privacy: Privacy = Privacy.FULL) -> Report:
    """The first report of this Pod: an older epoch's is dropped, but for the sandbox's name, what it did and presented."""
    own = RunnerStatus(
        epoch=identity.epoch,
        pod_uid=identity.pod_uid,
        node=identity.node,
        progress=live.progress,
        artifacts=live.artifacts,
    )
    return Report(
        runner=own, sandbox_id=live.sandbox_id, privacy=privacy, earlier=live.progress or Progress()
    )
