"""The fence: which grant may still speak, as sequences of callers."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_api.grants import Confirmation, Grant, GrantRole, RunRef
from skerry_sandboxd.fence import Fence


def grant(run: str | None, epoch: int, issued: int) -> Grant:
    fields: dict[str, Any] = {
        "namespace": "n", "sandbox_id": "s", "pod_uid": "p", "epoch": epoch, "iat": issued, "exp": issued + 100,
        "cnf": Confirmation(jkt="k" * 43), "jti": "j",
        "run": None if run is None else RunRef(uid=run, name=run),
        "role": GrantRole.OPERATOR if run is None else GrantRole.RUNNER,
    }  # fmt: skip
    return Grant(**fields)


A, B = "run-a", "run-b"
SEQUENCES: dict[str, list[tuple[str | None, int, int, bool]]] = {
    # run, epoch, issued at, admitted
    "one epoch, again and again": [(A, 1, 10, True), (A, 1, 10, True)],
    "a newer epoch fences the old one": [
        (A, 1, 10, True),
        (A, 2, 20, True),
        (A, 1, 10, False),
        (A, 2, 20, True),
    ],
    "an old epoch is not helped by a newer grant": [(A, 2, 10, True), (A, 1, 99, False)],
    "the next run of the thread begins at epoch 1": [(A, 3, 10, True), (B, 1, 20, True), (A, 3, 10, False)],
    "it may take over within the same second": [(A, 1, 10, True), (B, 1, 10, True), (A, 1, 10, False)],
    "an older run can't take over": [(B, 1, 20, True), (A, 9, 10, False)],
    "a run comes back with a later grant": [
        (A, 1, 10, True),
        (B, 1, 20, True),
        (A, 2, 30, True),
        (B, 1, 20, False),
    ],
    "but not at an epoch it had left": [
        (A, 2, 10, True),
        (B, 1, 20, True),
        (A, 1, 30, False),
        (B, 1, 20, True),
    ],
    "the operator stands outside": [(A, 5, 10, True), (None, 0, 1, True), (A, 5, 10, True)],
    "the operator is no holder": [(None, 9, 99, True), (A, 1, 10, True)],
}


@pytest.mark.parametrize("sequence", SEQUENCES.values(), ids=SEQUENCES.keys())
def test_sequences(sequence: list[tuple[str | None, int, int, bool]]) -> None:
    fence = Fence()
    admitted = [fence.admit(grant(run, epoch, issued)) is None for run, epoch, issued, _ in sequence]
    assert admitted == [expected for *_, expected in sequence]
