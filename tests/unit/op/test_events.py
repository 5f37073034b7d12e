"""Events: named after what they say, written beside the work, lost without harm."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from skerry_api.agentrun import AgentRun
from skerry_operator.events import EventRecorder, event_body
from skerry_operator.kube.kinds import EVENT
from skerry_operator.metrics import Metrics
from skerry_operator.plan.events import EventReason, EventRecord
from skerry_testing.fakeclock import FakeClock, settle
from skerry_testing.fakekube import FakeKube
from skerry_testing.faults import Fault, Faults
from skerry_testing.manifests import a_run

NOW = datetime(2026, 1, 1, 8, 0, 0, 500_000, tzinfo=UTC)
STARTED = EventRecord(EventReason.STARTED, "Pod hello-1 made")
FAILED = EventRecord(EventReason.FAILED, "x" * 5000, "Warning")


def a_subject(version: str = "7") -> AgentRun:
    manifest = a_run("hello")
    manifest["metadata"] |= {"namespace": "ns", "uid": "u", "resourceVersion": version}
    return AgentRun.read(manifest)


def test_an_event_names_its_object_and_is_named_after_what_it_says() -> None:
    body = event_body(a_subject(), STARTED, NOW, "op-1")
    assert body["involvedObject"] == {
        "apiVersion": "skerry.dev/v1alpha1", "kind": "AgentRun", "name": "hello", "namespace": "ns", "uid": "u", "resourceVersion": "7",
    }  # fmt: skip
    assert (body["reason"], body["type"], body["firstTimestamp"]) == (
        "Started",
        "Normal",
        "2026-01-01T08:00:00Z",
    )
    assert body["metadata"]["name"].startswith("hello.")
    again = event_body(a_subject(), STARTED, datetime(2027, 1, 1, tzinfo=UTC), "op-2")
    assert again["metadata"]["name"] == body["metadata"]["name"]
    later = event_body(a_subject("8"), STARTED, NOW, "op-1")
    assert later["metadata"]["name"] != body["metadata"]["name"]
    assert len(event_body(a_subject(), FAILED, NOW, "op-1")["message"]) == 1024


async def test_sent_twice_stands_once_and_failures_are_counted() -> None:
    metrics, kube = Metrics(), FakeKube(FakeClock(), Faults(at={2: Fault.FAIL}))
    recorder = EventRecorder(kube, metrics, "op-1")
    running = asyncio.create_task(recorder.run())
    recorder.emit(a_subject(), [STARTED, STARTED, FAILED], NOW)
    await asyncio.wait_for(recorder.drain(), 5)
    assert [event["reason"] for event in kube.all(EVENT, "ns")] == ["Started"]
    assert metrics.registry.get_sample_value("skerry_events_dropped_total") == 1
    assert not running.done(), "a refused event must not end the recorder, and with it the operator"
    running.cancel()


async def test_a_full_backlog_drops_and_never_waits() -> None:
    metrics, kube = Metrics(), FakeKube(FakeClock(), Faults(every=lambda _: Fault.HANG))
    recorder = EventRecorder(kube, metrics, "op-1")
    running = asyncio.create_task(recorder.run())
    await settle()
    recorder.emit(a_subject(), [STARTED] * 1200, NOW)
    assert metrics.registry.get_sample_value("skerry_events_dropped_total") == 200
    running.cancel()
