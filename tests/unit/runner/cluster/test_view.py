from __future__ import annotations

from typing import Any

import pytest

from skerry_runner.cluster.environment import Identity
from skerry_runner.cluster.view import Verdict, deleted, names_us, verdict, view_of

US = Identity("ns", "r", 2, pod_uid="pod", node=None)
GO, CANCEL, FENCED = Verdict.GO_ON, Verdict.CANCEL, Verdict.FENCED


def raw(uid: str = "run", spec: Any = None, deleting: bool = False, **status: Any) -> dict[str, Any]:
    meta = {"uid": uid, "resourceVersion": "7"} | (
        {"deletionTimestamp": "2026-01-01T00:00:00Z"} if deleting else {}
    )
    return {"metadata": meta, "spec": spec or {}, "status": status}


@pytest.mark.parametrize(
    ("run", "expected", "why"),
    [
        (raw(epoch=2, podUID="pod", phase="Running"), GO, "ours"),
        (raw(), GO, "the operator has not written yet"),
        (raw(epoch=2), GO, "nor the UID"),
        (raw(epoch=1, podUID="old"), GO, "status lags behind the Pod"),
        (raw(epoch=2, podUID="other"), FENCED, "another Pod of our epoch"),
        (raw(epoch=3, podUID="new"), FENCED, "a newer epoch"),
        (raw(epoch=3, podUID="pod"), FENCED, "a newer epoch, its UID not yet written"),
        (raw(uid="again", epoch=2, podUID="pod"), FENCED, "re-created under the same name"),
        (raw(epoch=2, podUID="pod", phase="TimedOut"), FENCED, "it has ended"),
        (raw(spec={"cancel": True}, epoch=2, podUID="pod"), CANCEL, "asked to"),
        (raw(epoch=2, podUID="pod", cancelled=True), CANCEL, "latched, though Git took it back"),
        (raw(epoch=2, podUID="pod", deleting=True), CANCEL, "being deleted"),
        (raw(spec={"cancel": True}, epoch=3), FENCED, "cancel is for the newer epoch"),
    ],
)  # fmt: skip
def test_verdict(run: dict[str, Any], expected: Verdict, why: str) -> None:
    assert verdict(view_of(run), US, "run") is expected, why


def test_a_run_that_is_gone_fences() -> None:
    assert verdict(deleted(), US, "run") is FENCED


def test_only_the_current_epoch_names_us() -> None:
    assert names_us(view_of(raw(epoch=2, podUID="pod")), US)
    assert not names_us(view_of(raw(epoch=1, podUID="pod")), US)
    assert not names_us(view_of(raw(epoch=2)), US)


def test_what_a_newer_operator_writes_does_not_stop_the_runner() -> None:
    view = view_of(raw(epoch=2, phase="Levitating", sandbox={"name": "s", "state": "Frozen"}))
    assert (view.phase, view.sandbox) == ("Levitating", None)
    assert view_of({}).uid == ""
