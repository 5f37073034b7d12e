"""The sandbox as a run sees it, and its grant: minted anew exactly when the present one does not fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from skerry_api.agentrun import AgentRun, SandboxUse
from skerry_api.grants import Confirmation, Grant, RunRef, issue_grant
from skerry_api.keys import PublicKey, SigningKey
from skerry_api.phases import RunPhase
from skerry_api.sandbox import Sandbox
from skerry_operator.plan.grantfit import fits, usable_key
from skerry_operator.plan.runsandbox import asks, use_of
from skerry_operator.plan.types import GrantRequest
from skerry_testing.planbox import HOLDER, READY
from skerry_testing.plans import NS, a_run, a_sandbox, after

Json = dict[str, Any]
OPERATOR, RUNNER = SigningKey.generate(), SigningKey.generate()
WANTED = GrantRequest(NS, "sbx", "pod-sbx", "uid-run", "run", 1, RUNNER.public.text, after(3900))


def mint(wanted: GrantRequest) -> str:
    grant = Grant(
        namespace=wanted.namespace, sandbox_id=wanted.sandbox_id, pod_uid=wanted.pod_uid, epoch=wanted.epoch, jti="j",
        run=RunRef(uid=wanted.run_uid, name=wanted.run_name), iat=0, exp=int(wanted.expires.timestamp()),
        cnf=Confirmation(jkt=PublicKey.from_text(wanted.public_key).thumbprint),
    )  # fmt: skip
    return issue_grant(grant, OPERATOR)


def run_that(asked: bool = True, epoch: int = 1, key: str = "", **status: Any) -> AgentRun:
    request = {"sandboxRequest": {"epoch": epoch, "publicKey": key or RUNNER.public.text}} if asked else {}
    runner = {"epoch": epoch, "podUID": "pod-run-1", **request}
    return a_run(status={"phase": "Running", "epoch": 1, "podUID": "pod-run-1", "runner": runner, **status})


def use(
    run: AgentRun, sandbox: Sandbox | None, phase: RunPhase = RunPhase.RUNNING, *, eager: bool = False
) -> tuple[SandboxUse | None, GrantRequest | None]:
    return use_of(run, sandbox, phase, eager=eager, deadline=after(3900))


class TestUse:
    def test_ready_comes_with_a_grant_to_be_minted(self) -> None:
        found, wanted = use(run_that(), a_sandbox(status=READY))
        assert found is not None
        assert wanted is not None
        assert (found.state, found.pod_uid, found.endpoint) == ("Ready", "pod-sbx", "http://10.1.1.1:8090")
        assert (wanted.epoch, wanted.pod_uid, wanted.expires) == (1, "pod-sbx", after(3900))

    def test_a_grant_that_fits_is_kept(self) -> None:
        first, wanted = use(run_that(), a_sandbox(status=READY))
        assert first is not None
        assert wanted is not None
        token = mint(wanted)
        run = run_that(sandbox=first.model_copy(update={"grant": token}).wire())
        again, none = use(run, a_sandbox(status=READY))
        assert none is None
        assert again is not None
        assert again.grant == token

    @pytest.mark.parametrize(("epoch", "minted"), [(1, False), (2, True)])
    def test_one_that_cannot_be_read_takes_nothing_away(self, epoch: int, minted: bool) -> None:
        first, wanted = use(run_that(), a_sandbox(status=READY))
        assert first is not None
        assert wanted is not None
        given = first.model_copy(update={"grant": mint(wanted)})
        run = run_that(epoch=epoch, sandbox=given.wire())
        run = run.model_copy(update={"status": run.status.model_copy(update={"epoch": epoch})})
        found, again = use_of(run, None, RunPhase.RUNNING, eager=False, deadline=after(3900), unreadable=True)
        assert found == (first if minted else given)
        assert (again is not None and again.epoch == epoch) is minted

    def test_one_that_cannot_be_read_is_given_back_at_the_end(self) -> None:
        first, _ = use(run_that(), a_sandbox(status=READY))
        assert first is not None
        run = run_that(sandbox=first.wire())
        found, _ = use_of(run, None, RunPhase.SUCCEEDED, eager=False, deadline=after(3900), unreadable=True)
        assert found is not None
        assert (found.state, found.endpoint) == ("Released", None)

    @pytest.mark.parametrize("key", ["not a key", "A" * 43 + "=", "AAAA"])
    def test_a_key_that_is_none_gets_no_grant(self, key: str) -> None:
        assert not usable_key(key)
        assert use(run_that(key=key), a_sandbox(status=READY))[1] is None

    def test_without_a_request_there_is_no_grant(self) -> None:
        found, wanted = use(run_that(asked=False), a_sandbox(status=READY), eager=True)
        assert found is not None
        assert found.state == "Ready"
        assert wanted is None

    @pytest.mark.parametrize(
        "sandbox",
        [
            None,
            a_sandbox(),
            a_sandbox(status=READY | {"holder": HOLDER | {"uid": "uid-other"}}),
            a_sandbox(status=READY | {"phase": "Pending"}),
        ],
    )
    def test_a_sandbox_that_is_not_held_and_ready_gives_nothing_away(self, sandbox: Sandbox | None) -> None:
        assert use(run_that(), sandbox) == (None, None)
        had = run_that(
            sandbox={"name": "sbx", "state": "Ready", "podUID": "old", "endpoint": "http://x", "grant": "g"}
        )
        found, wanted = use(had, sandbox)
        assert found is not None
        assert (found.state, found.pod_uid, found.endpoint, found.grant, wanted) == (
            "Replacing",
            "old",
            None,
            None,
            None,
        )

    def test_an_eager_run_says_that_it_waits(self) -> None:
        found, _ = use(run_that(asked=False), None, RunPhase.PROVISIONING, eager=True)
        assert found is not None
        assert found.state == "Pending"

    @pytest.mark.parametrize(("phase", "state"), [("Ready", "Released"), ("Failed", "Lost")])
    def test_the_end_takes_grant_and_endpoint_away(self, phase: str, state: str) -> None:
        run = run_that(
            sandbox={
                "name": "sbx",
                "state": "Ready",
                "podUID": "pod-sbx",
                "endpoint": "http://x",
                "grant": "g",
            }
        )
        found, _ = use(run, a_sandbox(status=READY | {"phase": phase}), RunPhase.FAILED)
        assert found is not None
        assert (found.state, found.endpoint, found.grant) == (state, None, None)


class TestAsks:
    def test_only_the_current_epochs_runner_asks(self) -> None:
        assert asks(run_that())
        assert not asks(run_that(epoch=2))
        assert not asks(run_that(podUID="another"))
        assert not asks(run_that(asked=False))

    @pytest.mark.parametrize(
        ("state", "still"),
        [("Pending", True), ("Ready", True), ("Replacing", True), ("Released", False), ("Lost", False)],
    )
    def test_who_was_given_one_keeps_it_through_a_retry(self, state: str, still: bool) -> None:
        assert asks(run_that(asked=False, sandbox={"name": "sbx", "state": state})) is still

    def test_nobody_asks_after_the_end(self) -> None:
        assert not asks(run_that(phase="Failed"))


class TestFits:
    def test_the_one_that_was_minted_fits(self) -> None:
        assert fits(mint(WANTED), WANTED)

    @pytest.mark.parametrize(
        "change",
        [
            {"pod_uid": "pod-2"}, {"sandbox_id": "other"}, {"epoch": 2}, {"run_uid": "uid-other"}, {"expires": after(4000)},
            {"public_key": SigningKey.generate().public.text},
        ],
    )  # fmt: skip
    def test_another_pod_epoch_run_key_or_end_does_not(self, change: Json) -> None:
        assert not fits(mint(WANTED), replace(WANTED, **change))

    @pytest.mark.parametrize("token", [None, "", "x", "a.b.c", "a.bnVsbA.c", "a.W10.c"])
    def test_what_is_no_grant_does_not(self, token: str | None) -> None:
        assert not fits(token, WANTED)
