"""Questions in a cluster: people answer in spec.answers of the own run."""

from __future__ import annotations

from typing_extensions import override

from skerry_api.report import Question
from skerry_runner.cluster.own_run import OwnRun
from skerry_runner.cluster.reporter import ClusterReporter
from skerry_runner.ports import Questions

__all__ = ["ClusterQuestions"]


class ClusterQuestions(Questions):
    """`in_place`: nothing of the run outlives its Pod, so the Pod waits; else the epoch ends with the question."""

    def __init__(self, own: OwnRun, reporter: ClusterReporter, *, in_place: bool) -> None:
        self._own, self._reporter, self._in_place = own, reporter, in_place

    @override
    async def ask(self, question: Question) -> str | None:
        early = self._own.view.answer_to(question.id)
        if early is not None or not self._in_place:
            return early
        await self._reporter.ask_people(question)
        answer = await self._own.until(lambda view: view.answer_to(question.id))
        self._reporter.answered()
        return answer
