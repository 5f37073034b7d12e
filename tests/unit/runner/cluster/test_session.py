"""A whole epoch against an API server in memory: what status, the termination message and the journal hold."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from skerry_api.document import RunDocument
from skerry_api.phases import OutcomeClass
from skerry_api.report import Outcome, Progress, RunArtifact, Usage
from skerry_runner.cluster.pace import Pace
from skerry_runner.cluster.port import ApiError, ApiForbidden, ApiRejected, ApiUnauthorized
from skerry_runner.cluster.session import CarryOut
from skerry_runner.events import SandboxAcquired
from skerry_runner.journal import FileSink, Journal, OnFault
from skerry_runner.outcome import cancelled
from skerry_runner.ports import CancelReason, Ports, RunResult
from skerry_testing.eventually import eventually
from skerry_testing.runnerpod import DOCUMENT, QUICK, Pod

DONE = RunResult(outcome=Outcome(class_=OutcomeClass.SUCCEEDED), answer="42", progress=Progress(turn=1))
NOW = datetime(2026, 1, 1, tzinfo=UTC)
PATIENCE = 30


async def quick(_: RunDocument, ports: Ports) -> RunResult:
    await ports.reporter.started()
    await ports.reporter.ended(DONE)
    return DONE


async def until_told(_: RunDocument, ports: Ports) -> RunResult:
    """A core that works until it is told to stop, as the real one does."""
    await ports.reporter.started()
    result = RunResult(outcome=cancelled(await ports.cancellation.wait()))
    await ports.reporter.ended(result)
    return result


def reported(pod: Pod) -> list[str | None]:
    return [status["runner"].get("outcome", {}).get("class") for status in pod.port.applied]


async def run(pod: Pod, core: CarryOut = quick, pace: Pace = QUICK) -> Outcome:
    async with asyncio.timeout(PATIENCE):
        return await pod.session(core, pace).run()


async def test_the_end_stands_in_status_and_in_the_termination_message(pod: Pod) -> None:
    assert (await run(pod)).class_ is OutcomeClass.SUCCEEDED
    assert reported(pod)[-1] == "Succeeded"
    last = pod.port.applied[-1]["runner"]
    assert (last["epoch"], last["podUID"], last["node"], last["answer"]) == (1, "pod-uid", "n1", "42")
    assert pod.termination is not None
    assert (pod.termination.run_uid, pod.termination.answer) == ("run-uid", "42")
    assert pod.journal.closed


async def test_cancel_in_the_spec_reaches_the_core(pod: Pod) -> None:
    running = asyncio.create_task(run(pod, until_told))
    await eventually(lambda: pod.port.applied)
    await pod.port.patch_spec(cancel=True)
    assert (await running).class_ is OutcomeClass.CANCELLED
    assert reported(pod) == [None, "Cancelled"]


async def test_sigterm_is_an_interruption(pod: Pod) -> None:
    running = asyncio.create_task(run(pod, until_told))
    await eventually(lambda: pod.port.applied)
    pod.terminated.set()
    assert (await running).class_ is OutcomeClass.INTERRUPTED
    assert reported(pod) == [None, "Interrupted"]


@pytest.mark.parametrize(
    "status",
    [{"epoch": 2, "podUID": "new"}, {"podUID": "other"}, {"phase": "TimedOut"}],
    ids=["newer epoch", "another Pod", "ended"],
)
async def test_a_runner_that_was_replaced_ends_without_a_word(pod: Pod, status: dict[str, object]) -> None:
    running = asyncio.create_task(run(pod, until_told))
    await eventually(lambda: pod.port.applied)
    await pod.port.patch_status(**status)
    assert (await running).reason == "Fenced"
    assert reported(pod) == [None]
    assert pod.termination is None


async def test_a_run_that_was_deleted_is_left_alone(pod: Pod) -> None:
    running = asyncio.create_task(run(pod, until_told))
    await eventually(lambda: pod.port.applied)
    await pod.port.delete()
    assert (await running).reason == "Fenced"
    assert pod.termination is None


async def test_what_was_presented_stands_in_status_of_a_run_that_timed_out(pod: Pod) -> None:
    shown = RunArtifact(path="/mnt/user-data/outputs/a", size=1, media_type="text/plain", available=True)

    async def core(document: RunDocument, ports: Ports) -> RunResult:
        await ports.reporter.started()
        ports.reporter.progress(Progress(turn=1), Usage(), (shown,))
        return await until_told(document, ports)

    running = asyncio.create_task(run(pod, core))
    await eventually(lambda: pod.port.applied and "artifacts" in pod.port.applied[-1]["runner"])
    await pod.port.patch_status(phase="TimedOut")
    assert (await running).reason == "Fenced"
    assert pod.port.applied[-1]["runner"]["artifacts"] == [shown.wire()]
    assert pod.termination is None


async def test_a_runner_that_comes_too_late_does_nothing(pod: Pod) -> None:
    await pod.port.patch_status(epoch=2)
    assert (await run(pod)).reason == "Fenced"
    assert (pod.port.applied, pod.documents, pod.termination) == ([], [], None)


@pytest.mark.parametrize(
    ("document", "words"),
    [("{}", "document run: is required"), ("rubbish", "document Invalid JSON")],
)
async def test_a_document_that_cannot_be_used_is_reported(pod: Pod, document: str, words: str) -> None:
    pod.write(document)
    outcome = await run(pod)
    assert (outcome.class_, outcome.reason) == (OutcomeClass.INVALID_SPEC, "InvalidDocument")
    assert words in outcome.message
    assert reported(pod) == ["InvalidSpec"]
    assert pod.termination is not None
    assert (pod.termination.run_uid, pod.termination.outcome) == ("run-uid", outcome)
    assert pod.documents == [], "no journal of a run that nobody knows"


async def test_a_server_that_is_away_during_the_run_delays_only_the_report(pod: Pod) -> None:
    async def core(document: RunDocument, ports: Ports) -> RunResult:
        await ports.reporter.started()
        await eventually(lambda: pod.port.applied)
        await pod.port.set_down(True)
        for turn in range(20):
            ports.reporter.progress(Progress(turn=turn), Usage())
        await ports.reporter.ended(DONE)
        return DONE

    running = asyncio.create_task(run(pod, core))
    await eventually(lambda: pod.termination)
    tries = pod.port.tries
    await eventually(lambda: pod.port.tries > tries + 3)
    assert not running.done()
    await pod.port.set_down(False)
    assert (await running).class_ is OutcomeClass.SUCCEEDED
    assert reported(pod) == [None, "Succeeded"]


@pytest.mark.parametrize("sigterm", [False, True])
async def test_a_server_that_stays_away_is_waited_for_within_bounds(pod: Pod, sigterm: bool) -> None:
    pace = Pace(final=3600, leaving=0.05) if sigterm else Pace(final=0.05)

    async def core(document: RunDocument, ports: Ports) -> RunResult:
        await pod.port.set_down(True)
        ending = asyncio.create_task(ports.reporter.ended(DONE))
        if sigterm:
            await eventually(lambda: pod.termination)
            pod.terminated.set()
        await ending
        return DONE

    assert (await run(pod, core, pace)).class_ is OutcomeClass.SUCCEEDED
    assert pod.port.applied == []
    assert pod.termination is not None
    assert pod.termination.answer == "42"


async def test_a_pod_whose_token_is_worth_nothing_any_more_ends_its_epoch(pod: Pod) -> None:
    """It would hear of no cancel and no answer."""

    async def core(document: RunDocument, ports: Ports) -> RunResult:
        working = asyncio.create_task(until_told(document, ports))
        await eventually(lambda: pod.port.watches)
        pod.port.known = False
        pod.port.faults.extend(ApiUnauthorized("401: Unauthorized") for _ in range(10_000))
        await pod.port.set_down(True)
        await pod.port.set_down(False)
        return await working

    outcome = await run(pod, core, replace(QUICK, unauthorized=0.05))
    assert outcome.class_ is OutcomeClass.INTERRUPTED
    assert pod.termination is not None
    assert pod.termination.outcome == outcome


async def test_sigterm_before_the_server_ever_answered(pod: Pod) -> None:
    await pod.port.set_down(True)
    pod.terminated.set()
    outcome = await run(pod, until_told, Pace(leaving=0.05))
    assert outcome.class_ is OutcomeClass.INTERRUPTED
    assert pod.termination is not None
    assert pod.termination.outcome == outcome


async def test_a_fence_during_the_last_report_ends_the_wait(pod: Pod) -> None:
    async def core(document: RunDocument, ports: Ports) -> RunResult:
        pod.port.admit = False
        await ports.reporter.ended(DONE)
        return DONE

    await pod.port.patch_status(podUID="")
    running = asyncio.create_task(run(pod, core))
    await eventually(lambda: pod.port.tries > 2)
    await pod.port.patch_status(epoch=2, podUID="new")
    await running
    assert pod.port.applied == []


@pytest.mark.parametrize("error", [ApiForbidden("403: RBAC"), ApiRejected("422: no")])
async def test_a_run_whose_first_tool_call_cannot_be_reported_ends_with_the_reason(
    pod: Pod, error: ApiError
) -> None:
    async def core(document: RunDocument, ports: Ports) -> RunResult:
        pod.port.faults.extend([error])
        calling = asyncio.create_task(ports.reporter.first_tool_call(Progress(tool_calls=1), Usage()))
        result = RunResult(outcome=cancelled(await ports.cancellation.wait()))
        assert not calling.done(), "no tool may run on an unreported call"
        calling.cancel()
        await ports.reporter.ended(result)
        return result

    await run(pod, core, Pace(forbidden=0, backoff_first=0.001))
    assert pod.termination is not None
    outcome = pod.termination.outcome
    assert (outcome.class_, outcome.reason) == (OutcomeClass.APP_ERROR, "ReportRefused")
    assert str(error) in outcome.message


async def test_a_fault_of_ours_still_ends_the_run(pod: Pod, caplog: pytest.LogCaptureFixture) -> None:
    async def core(document: RunDocument, ports: Ports) -> RunResult:
        raise ZeroDivisionError("never divide")

    outcome = await run(pod, core)
    assert (outcome.class_, outcome.reason, outcome.message) == (
        OutcomeClass.APP_ERROR, "ZeroDivisionError", "never divide",
    )  # fmt: skip
    assert reported(pod) == ["AppError"]
    assert "ZeroDivisionError" in caplog.text
    assert pod.journal.closed


async def test_cancel_stays_cancelled_when_sigterm_follows(pod: Pod) -> None:
    await pod.port.patch_spec(cancel=True)
    pod.terminated.set()

    async def core(document: RunDocument, ports: Ports) -> RunResult:
        reason = await ports.cancellation.wait()
        result = RunResult(outcome=cancelled(reason))
        await ports.reporter.ended(result)
        return result

    outcome = await run(pod, core)
    assert outcome.class_ in {OutcomeClass.CANCELLED, OutcomeClass.INTERRUPTED}
    assert reported(pod) == [outcome.class_.value]


async def test_the_first_word_to_stop_is_the_one_that_counts(pod: Pod) -> None:
    seen: list[CancelReason] = []

    async def core(document: RunDocument, ports: Ports) -> RunResult:
        await pod.port.patch_spec(cancel=True)
        seen.append(await ports.cancellation.wait())
        pod.terminated.set()
        await asyncio.sleep(0)
        seen.append(await ports.cancellation.wait())
        await ports.reporter.ended(DONE)
        return DONE

    await run(pod, core)
    assert seen == [CancelReason.CANCELLED, CancelReason.CANCELLED]


FULL = "full can't be written: [Errno 28] No space left on device"


def full_journal(on_fault: OnFault) -> Journal:
    sinks = [FileSink(Path("/dev/full"))]
    return Journal(sinks, run="r", thread="t", epoch=1, clock=lambda: NOW, on_fault=on_fault)


async def test_a_journal_that_cannot_be_written_stands_in_status_and_the_run_goes_on(pod: Pod) -> None:
    pod.open_journal = full_journal

    async def core(document: RunDocument, ports: Ports) -> RunResult:
        ports.journal.emit(SandboxAcquired(sandbox_id="sbx-1"))
        await ports.journal.flush()
        return await quick(document, ports)

    assert (await run(pod, core)).class_ is OutcomeClass.SUCCEEDED
    assert reported(pod)[-1] == "Succeeded"
    assert pod.port.applied[-1]["runner"]["journalFault"] == FULL
    assert pod.termination is not None
    assert pod.termination.journal_fault == FULL


async def test_a_fault_that_only_the_end_of_a_failed_runner_shows_goes_both_ways_too(pod: Pod) -> None:
    pod.open_journal = full_journal

    async def core(document: RunDocument, ports: Ports) -> RunResult:
        ports.journal.emit(SandboxAcquired(sandbox_id="sbx-1"))
        raise RuntimeError("broken")

    assert (await run(pod, core)).class_ is OutcomeClass.APP_ERROR
    assert pod.port.applied[-1]["runner"]["journalFault"] == FULL
    assert pod.termination is not None
    assert pod.termination.journal_fault == FULL


async def test_with_privacy_references_no_text_leaves_the_pod(pod: Pod) -> None:
    pod.write(json.dumps({**DOCUMENT, "privacy": "References"}))

    async def core(document: RunDocument, ports: Ports) -> RunResult:
        result = replace(DONE, answer="planted", answer_id="m-1")
        await ports.reporter.ended(result)
        return result

    assert (await run(pod, core)).class_ is OutcomeClass.SUCCEEDED
    last = pod.port.applied[-1]["runner"]
    assert last["answerRef"] == {"size": 7, "event": "model.response", "id": "m-1"}
    assert pod.termination is not None
    assert pod.termination.answer is None
    assert pod.termination.answer_ref is not None
    assert pod.termination.answer_ref.id == "m-1"
    assert "planted" not in json.dumps(pod.port.applied)
