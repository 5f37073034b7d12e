"""A question of the agent: the run waits for its answer in spec.answers, with or without a Pod.

With persistence the runner ends with its question; the answer starts the next epoch. Without it the Pod waits in
place and takes the answer itself: then there is nothing to do here but to say so.
"""

from __future__ import annotations

from datetime import datetime

from skerry_api.phases import FailureClass, RunPhase
from skerry_api.report import Question
from skerry_operator.plan.actions import RelayReport
from skerry_operator.plan.facts import RunFacts
from skerry_operator.plan.report import relayed
from skerry_operator.plan.rules.ending import delete, failed, pod_end
from skerry_operator.plan.types import Plan
from skerry_operator.plan.verdict import Step, Verdict
from skerry_operator.status.conditions import cut
from skerry_operator.status.reasons import Reason

__all__ = ["ended_with_question", "in_place"]

TEXT_MAX = 500
"""Characters of a question in a condition; the whole stands in status.runner.question."""
NAMED_MAX = 3


def ended_with_question(f: RunFacts) -> Step | None:
    """The epoch is over; None once it is answered and nothing is left of its Pod: another epoch may start."""
    if f.report is None or not f.report.awaits:
        return None
    late, pod = f.report.termination, f.pod
    if late is not None and pod is not None and f.observed.refusal is None:
        meta = f.run.metadata
        status = relayed(f.run, pod, late)
        return Plan(actions=(RelayReport(meta.namespace, meta.name, meta.resource_version, status),))
    if f.question is None:
        return failed(FailureClass.APP_ERROR, "NoQuestion: the runner awaits input, but asks nothing")
    return _waiting(f, f.question) if f.answer is None else _answered(f, f.question)


def in_place(f: RunFacts) -> Step | None:
    """The Pod waits itself. With the answer there it goes on, and the active deadline with it."""
    if f.report is not None or f.pod is None or f.question is None or f.answer is not None:
        return None
    return _awaits(f, f.question)


def _awaits(f: RunFacts, question: Question, wake: datetime | None = None) -> Verdict:
    return Verdict(RunPhase.AWAITING_INPUT, RunPhase.AWAITING_INPUT, _words(f, question), wake_at=wake)


def _waiting(f: RunFacts, question: Question) -> Verdict:
    """The Pod has done its work: it goes as that of an ended run does."""
    verdict = _awaits(f, question)
    if f.pod is None or f.pod.terminating:
        return verdict
    until = pod_end(f, f.pod, f.status.paused_since or f.now)
    if f.now < until:
        return _awaits(f, question, until)
    return Verdict(verdict.phase, verdict.reason, verdict.message, after=(delete(f.pod),))


def _answered(f: RunFacts, question: Question) -> Step | None:
    if f.pod is None:
        return None if f.observed.live else Plan(needs_live=True)
    words = f"question {question.id} is answered; the next epoch starts once Pod {f.pod.name} is gone"
    after = () if f.pod.terminating else (delete(f.pod),)
    return Verdict(
        RunPhase.PROVISIONING, Reason.ANSWERED, words, after=after, late=FailureClass.STARTUP_TIMEOUT
    )


def _words(f: RunFacts, question: Question) -> str:
    text = "its text stands in the journal alone" if question.text is None else question.text
    asked = f"question {question.id}: {cut(' '.join(text.split()), TEXT_MAX)}"
    others = [each.question_id for each in f.run.spec.answers]
    if not others:
        return asked
    named = ", ".join(others[:NAMED_MAX]) + (", …" if len(others) > NAMED_MAX else "")
    return f"{asked} (spec.answers holds answers to other questions only: {named})"
