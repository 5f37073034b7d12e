"""The sandbox as a run sees it: who asks, who holds, and `status.sandbox` out of the Sandbox's own status."""

from __future__ import annotations

from datetime import datetime

from skerry_api.agentrun import AgentRun, SandboxUse
from skerry_api.phases import TERMINAL, RunPhase, SandboxPhase, SandboxState
from skerry_api.report import SandboxRequest
from skerry_api.sandbox import Sandbox
from skerry_operator.plan.grantfit import fits, usable_key
from skerry_operator.plan.report import ended_asking
from skerry_operator.plan.resolve import sandbox_name
from skerry_operator.plan.types import GrantRequest

__all__ = ["asks", "comes_back", "held_sandbox", "request_of", "use_of", "used"]

_OVER = frozenset({SandboxState.RELEASED, SandboxState.LOST})


def request_of(run: AgentRun) -> SandboxRequest | None:
    """The request of the current epoch's runner; those of other epochs and Pods don't count."""
    status, runner = run.status, run.status.runner
    if runner is None or runner.sandbox_request is None or status.epoch is None:
        return None
    current = runner.epoch == status.epoch and runner.pod_uid == status.pod_uid
    if ended_asking(status):
        return None  # its runner is over: the next epoch's asks again
    return runner.sandbox_request if current and runner.sandbox_request.epoch == status.epoch else None


def asks(run: AgentRun) -> bool:
    """Whether this run is to have its thread's sandbox: a live run that asked, or was given one before."""
    if run.status.phase in TERMINAL or run.metadata.deletion_timestamp is not None:
        return False
    return request_of(run) is not None or used(run) is not None


def used(run: AgentRun | None) -> SandboxUse | None:
    """What the run says of the sandbox that it was given and did not give back."""
    use = run.status.sandbox if run else None
    return use if use is not None and use.state not in _OVER else None


def comes_back(run: AgentRun) -> bool:
    """Whether a live run has let go of its sandbox only while it waits for an answer."""
    if run.status.phase in TERMINAL or run.metadata.deletion_timestamp is not None:
        return False
    use = run.status.sandbox
    return use is not None and use.state is SandboxState.RELEASED


def held_sandbox(run: AgentRun, sandbox: Sandbox | None) -> Sandbox | None:
    """The Sandbox, if it says that this run holds it."""
    holder = sandbox.status.holder if sandbox else None
    return sandbox if holder is not None and holder.uid == run.metadata.uid else None


def use_of(
    run: AgentRun,
    sandbox: Sandbox | None,
    phase: RunPhase,
    *,
    eager: bool,
    deadline: datetime | None,
    parked: bool = False,
    unreadable: bool = False,
) -> tuple[SandboxUse | None, GrantRequest | None]:
    """`status.sandbox` beside `phase`, and the grant to be minted into it where the present one does not fit.

    `deadline` is when the grant ends; None before the run was first Running, and then there is no grant. `parked`: the
    run goes on later, with another runner, and needs no sandbox until then. `unreadable`: nobody can say how the Sandbox is; what
    was known of it holds on.
    """
    before = run.status.sandbox
    if not (eager or before is not None or request_of(run) is not None):
        return None, None
    held = held_sandbox(run, sandbox)
    failed = held is not None and held.status.phase is SandboxPhase.FAILED
    given_up = before is not None and before.state is SandboxState.RELEASED
    if phase in TERMINAL or parked or (given_up and not eager and request_of(run) is None):
        lost = failed and not parked
        return _released(before, SandboxState.LOST if lost else SandboxState.RELEASED), None
    name = sandbox_name(run)
    if unreadable and before is not None and before.state is SandboxState.READY:
        return _granted(run, before.model_copy(update={"grant": None}), deadline)
    if held is None or held.status.phase is not SandboxPhase.READY or not held.status.endpoint:
        if before is None and not eager and not failed:
            return None, None  # one write less: the Sandbox itself says that it starts
        return _pending(name, before, lost=failed), None
    use = SandboxUse(
        name=name,
        state=SandboxState.READY,
        class_name=held.spec.class_ref.name,
        pod_uid=held.status.pod_uid,
        replacements=held.status.replacements or 0,
        endpoint=held.status.endpoint,
    )
    return _granted(run, use, deadline)


def _granted(
    run: AgentRun, use: SandboxUse, deadline: datetime | None
) -> tuple[SandboxUse, GrantRequest | None]:
    """The use with the grant that it has where that fits, else with none and the one to be minted."""
    wanted = _grant(run, use, deadline)
    if wanted is None:
        return use, None
    token = run.status.sandbox.grant if run.status.sandbox else None
    return (use.model_copy(update={"grant": token}), None) if fits(token, wanted) else (use, wanted)


def _released(before: SandboxUse | None, state: SandboxState) -> SandboxUse | None:
    if before is None:
        return None
    return before.model_copy(update={"state": state, "endpoint": None, "grant": None})


def _pending(name: str, before: SandboxUse | None, *, lost: bool) -> SandboxUse:
    given_up = before is not None and before.state is SandboxState.RELEASED
    if before is not None and given_up:
        # Had again, the sandbox may have another Pod: that is no replacement under the run.
        before = before.model_copy(update={"pod_uid": None})
    had = before is not None and before.pod_uid is not None
    state = SandboxState.LOST if lost else SandboxState.REPLACING if had else SandboxState.PENDING
    kept = before or SandboxUse(name=name, state=state)
    return kept.model_copy(update={"name": name, "state": state, "endpoint": None, "grant": None})


def _grant(run: AgentRun, use: SandboxUse, deadline: datetime | None) -> GrantRequest | None:
    request = request_of(run)
    if request is None or deadline is None or not usable_key(request.public_key):
        return None
    return GrantRequest(
        namespace=run.metadata.namespace,
        sandbox_id=use.name,
        pod_uid=use.pod_uid or "",
        run_uid=run.metadata.uid,
        run_name=run.metadata.name,
        epoch=request.epoch,
        public_key=request.public_key,
        expires=deadline,
    )
