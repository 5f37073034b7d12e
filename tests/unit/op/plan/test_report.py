"""The termination message as the second way of the runner's report."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_api.phases import OutcomeClass
from skerry_api.report import Outcome, TerminationReport
from skerry_operator.plan.podview import PodView
from skerry_operator.plan.report import relayed
from skerry_testing.planrun import RUNNING
from skerry_testing.plans import a_pod, a_run

FAULT = "journal.jsonl can't be written: No space left on device"


@pytest.mark.parametrize("known", [None, "an older one"])
@pytest.mark.parametrize("late", [None, FAULT])
def test_the_journal_s_fault_is_as_the_last_word_has_it(known: str | None, late: str | None) -> None:
    pod: PodView = a_pod()
    runner: dict[str, Any] = {"epoch": 1, "podUID": pod.uid} | ({"journalFault": known} if known else {})
    told = TerminationReport(
        run_uid="u", epoch=1, outcome=Outcome(class_=OutcomeClass.SUCCEEDED), journal_fault=late
    )
    status = relayed(a_run(status=RUNNING | {"runner": runner}), pod, told)
    assert status["runner"].get("journalFault") == late
