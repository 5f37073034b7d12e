"""The way to a sandbox: one request, one client, whatever asks for it and however often."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from skerry_api.document import RunDocument
from skerry_api.grants import Confirmation, Grant, RunRef, issue_grant
from skerry_api.keys import PublicKey, SigningKey
from skerry_api.phases import OutcomeClass
from skerry_api.report import Outcome
from skerry_runner.cluster.sandboxes import ClusterSandboxes
from skerry_runner.outcome import app_error
from skerry_runner.ports import Ports, RunResult
from skerry_runner.sandbox.errors import SandboxLost
from skerry_runner.sandbox.remote import RemoteSandbox
from skerry_testing.eventually import eventually
from skerry_testing.runnerpod import Pod

DONE = RunResult(outcome=Outcome(class_=OutcomeClass.SUCCEEDED))


async def answer(pod: Pod, **fields: object) -> None:
    """Do what the operator does once the request stands in status."""
    await eventually(lambda: any("sandboxRequest" in status["runner"] for status in pod.port.applied))
    request = pod.port.applied[-1]["runner"]["sandboxRequest"]
    claims = Grant(
        namespace="ns", sandbox_id="sbx-1", pod_uid="sp", run=RunRef(uid="run-uid", name="r"),
        epoch=request["epoch"], iat=0, exp=10, jti="j",
        cnf=Confirmation(jkt=PublicKey.from_text(request["publicKey"]).thumbprint),
    )  # fmt: skip
    grant = issue_grant(claims, SigningKey.generate())
    use = {
        "name": "sbx-1",
        "state": "Ready",
        "podUID": "sp",
        "endpoint": "http://127.0.0.1:1",
        "grant": grant,
    }
    await pod.port.patch_status(sandbox=use | fields)


async def test_many_who_ask_get_one_sandbox_by_one_request(pod: Pod) -> None:
    async def core(document: RunDocument, ports: Ports) -> RunResult:
        asking = [asyncio.create_task(ports.sandboxes.acquire()) for _ in range(5)]
        await answer(pod)
        got = await asyncio.gather(*asking)
        assert len({id(sandbox) for sandbox in got}) == 1
        assert isinstance(got[0], RemoteSandbox)
        assert (got[0].id, ports.sandboxes.current) == ("sbx-1", got[0])
        await ports.reporter.sandbox_acquired(got[0].id)
        await ports.sandboxes.release()
        await ports.sandboxes.release()
        assert ports.sandboxes.current is None
        await ports.reporter.ended(DONE)
        return DONE

    async with asyncio.timeout(30):
        outcome = await pod.session(core).run()
    assert outcome.class_ is OutcomeClass.SUCCEEDED, outcome.message
    assert pod.port.applied[-1]["sandboxId"] == "sbx-1"
    keys = {status["runner"].get("sandboxRequest", {}).get("publicKey") for status in pod.port.applied} - {
        None
    }
    assert len(keys) == 1


async def test_a_sandbox_that_never_comes_is_lost(pod: Pod) -> None:
    async def core(document: RunDocument, ports: Ports) -> RunResult:
        asking = asyncio.create_task(ports.sandboxes.acquire())
        await answer(pod, state="Lost")
        with pytest.raises(SandboxLost):
            await asking
        result = RunResult(outcome=app_error("X", "y"))
        await ports.reporter.ended(result)
        return result

    async with asyncio.timeout(30):
        assert (await pod.session(core).run()).reason == "X"


async def test_each_epochs_process_has_a_key_of_its_own(pod: Pod) -> None:
    made = []

    async def core(document: RunDocument, ports: Ports) -> RunResult:
        provider = cast("ClusterSandboxes", ports.sandboxes)
        made.append(provider._key.public.text)
        await ports.reporter.ended(DONE)
        return DONE

    for _ in range(2):
        await pod.session(core).run()
    assert len(set(made)) == 2
