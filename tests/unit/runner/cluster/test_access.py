from __future__ import annotations

import asyncio
from typing import Any

import pytest

from skerry_api.grants import Confirmation, Grant, RunRef, issue_grant
from skerry_api.keys import SigningKey
from skerry_runner.cluster.access import RunAccess, access_of, grant_is_for
from skerry_runner.cluster.own_run import OwnRun, read_run
from skerry_runner.cluster.pace import Pace
from skerry_runner.cluster.view import view_of
from skerry_runner.sandbox.access import Access
from skerry_runner.sandbox.errors import SandboxLost, SandboxUnavailable
from skerry_testing.runport import MemoryRunPort

OPERATOR, OURS, THEIRS = SigningKey.generate(), SigningKey.generate(), SigningKey.generate()
JKT = OURS.public.thumbprint


def grant(epoch: int = 2, key: SigningKey = OURS, pod_uid: str = "pod") -> str:
    claims = Grant(
        namespace="ns", sandbox_id="sbx", pod_uid=pod_uid, run=RunRef(uid="u", name="r"), epoch=epoch,
        cnf=Confirmation(jkt=key.public.thumbprint), iat=0, exp=10, jti="j",
    )  # fmt: skip
    return issue_grant(claims, OPERATOR)


def use(state: str = "Ready", pod_uid: str = "pod", **fields: Any) -> dict[str, Any]:
    given = {
        "name": "sbx",
        "state": state,
        "podUID": pod_uid,
        "endpoint": "http://10.0.0.1:8090",
        "grant": grant(),
    }
    return {key: value for key, value in (given | fields).items() if value is not None}


def test_a_ready_sandbox_with_our_grant_is_an_access() -> None:
    sandbox = use()
    found = access_of(view_of({"status": {"sandbox": sandbox}}), JKT, 2)
    assert found == Access("http://10.0.0.1:8090", sandbox["grant"], "pod")


@pytest.mark.parametrize(
    ("sandbox", "why"),
    [
        (None, "not asked for"),
        (use("Pending"), "not ready"),
        (use("Replacing"), "being replaced"),
        (use("Released"), "of the epoch before"),
        (use(endpoint=None), "no way to it"),
        (use(grant=None), "no grant"),
        (use(podUID=None), "no Pod"),
        (use(grant=grant(epoch=1)), "the epoch before asked for it"),
        (use(grant=grant(key=THEIRS)), "for another key"),
        (use(grant="rubbish"), "no JWT"),
        ({"name": "sbx", "state": "Frozen"}, "a state of a newer operator"),
    ],
)
def test_anything_else_is_waited_out(sandbox: dict[str, Any] | None, why: str) -> None:
    status = {} if sandbox is None else {"sandbox": sandbox}
    assert access_of(view_of({"status": status}), JKT, 2) is None, why


def test_a_grant_whose_claims_are_of_another_shape_is_not_ours() -> None:
    import jwt

    odd = jwt.encode({"epoch": 2, "cnf": "text"}, OPERATOR.crypto, algorithm="EdDSA")
    assert not grant_is_for(odd, JKT, 2)


def test_a_lost_sandbox_is_said_to_be_lost() -> None:
    with pytest.raises(SandboxLost, match="after 3 replacements"):
        access_of(view_of({"status": {"sandbox": use("Lost", replacements=3)}}), JKT, 2)


async def test_a_replacement_is_waited_for() -> None:
    port = MemoryRunPort(sandbox=use())
    pace = Pace(backoff_first=0.001, backoff_most=0.01)
    own = OwnRun(port, await read_run(port, pace), pace)
    access = RunAccess(own, thumbprint=JKT, epoch=2, patience=20)
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        following = group.create_task(own.follow())
        first = await access.first()
        assert await access.current() == first
        await port.patch_status(sandbox=use("Replacing"))
        renewing = group.create_task(access.renewed(first))
        current = group.create_task(access.current())
        await port.patch_status(sandbox=use(pod_uid="pod-2", grant=grant(pod_uid="pod-2")))
        assert (await renewing).pod_uid == "pod-2"
        await port.patch_status(sandbox=use("Lost"))
        with pytest.raises(SandboxLost):
            await access.renewed(await renewing)
        following.cancel()
        current.cancel()


async def test_patience_has_an_end() -> None:
    port = MemoryRunPort()
    own = OwnRun(port, await read_run(port, Pace()), Pace())
    with pytest.raises(SandboxUnavailable):
        await RunAccess(own, thumbprint=JKT, epoch=2, patience=0.01).current()
