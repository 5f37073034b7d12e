"""docs/reference/model-errors.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from skerry_api.phases import ENDPOINT_FAULTS, ModelErrorReason
from skerry_api.rows.llmerrorhandling import LLMErrorHandlingSettings
from skerry_runner.llm.delays import attempts_for
from skerry_runner.llm.failure import Failure, FailureKind

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "model-errors.md"
KINDS = {
    ModelErrorReason.QUOTA_EXCEEDED: FailureKind.QUOTA,
    ModelErrorReason.AUTHENTICATION_FAILED: FailureKind.AUTH,
    ModelErrorReason.BURST_LIMITED: FailureKind.BURST,
    **dict.fromkeys(ENDPOINT_FAULTS, FailureKind.TRANSIENT),
}


def test_the_page_names_every_reason_with_its_attempts_and_weight() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .* \| (\d)\D*? \| (yes|no|–) \|$", PAGE.read_text(), re.MULTILINE)
    rows += re.findall(
        r"^\| `(\w+)` \| .* \| (\d), at least 5 s apart \| (no) \|$", PAGE.read_text(), re.MULTILINE
    )
    told = {name: (int(attempts), weight) for name, attempts, weight in rows}
    assert told.keys() == {reason.value for reason in ModelErrorReason}
    assert told.pop("CircuitOpen") == (0, "–")
    settings = LLMErrorHandlingSettings()
    for name, (attempts, weight) in told.items():
        reason = ModelErrorReason(name)
        failure = Failure(KINDS.get(reason, FailureKind.GENERIC), reason, "E", "m")
        assert attempts == (attempts_for(failure, settings) if failure.retriable else 1), name
        assert (weight == "yes") is failure.counts, name
