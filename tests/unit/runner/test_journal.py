"""The journal: order, gaps, full disks, torn lines, secrets."""

from __future__ import annotations

import asyncio
import io
import json
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from skerry_runner import journal as journal_module
from skerry_runner.events import (
    EVENT_TYPES,
    TEXT_MAX,
    Event,
    LlmCircuit,
    MessageInfo,
    ModelRequest,
    SandboxAcquired,
    ToolCall,
    clip,
)
from skerry_runner.events.base import as_json
from skerry_runner.journal import FileSink, Journal, Sink, StreamSink
from skerry_testing.nofsync import refuse_fsync
from skerry_testing.runnerworld import MemorySink

NOW = datetime(2026, 5, 8, 12, 0, 0, 5000, tzinfo=UTC)


def journal(*sinks: Sink, secrets: tuple[str, ...] = ()) -> Journal:
    return Journal(sinks, run="r", thread="t", epoch=1, clock=lambda: NOW, secrets=secrets)


def event(n: int) -> Event:
    return SandboxAcquired(sandbox_id=f"sbx-{n}")


async def overflow(made: Journal) -> None:
    """More than a failing sink keeps."""
    big = ToolCall(id="c", name="x", args="a" * TEXT_MAX)
    for _ in range(journal_module.BACKLOG_MAX // TEXT_MAX + 2):
        made.emit(big)
    await made.flush()


async def test_a_line_is_the_event_in_its_envelope() -> None:
    sink = MemorySink()
    made = journal(sink)
    made.emit(event(1))
    made.emit(ToolCall(id="c", name="bash", args="{}"), agent="helper")
    await made.close()
    assert sink.lines[0] == (
        b'{"seq":1,"time":"2026-05-08T12:00:00.005Z","run":"r","epoch":1,"thread":"t","agent":"lead",'
        b'"type":"sandbox.acquired","sandboxId":"sbx-1"}\n'
    )
    assert [(e["seq"], e["agent"]) for e in sink.events()] == [(1, "lead"), (2, "helper")]
    assert (sink.synced, sink.closed) == (2, True)


async def test_flush_returns_when_all_is_synced() -> None:
    sink = MemorySink()
    made = journal(sink)
    for n in range(1000):
        made.emit(event(n))
    await made.flush()
    assert (len(sink.lines), sink.synced) == (1000, 1000)
    await made.close()
    await asyncio.wait_for(made.flush(), 5)
    await made.close()


async def test_lines_may_gather_but_whoever_flushes_or_closes_does_not_wait_for_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(journal_module, "PAUSE", 3600.0)
    sink = MemorySink()
    made = journal(sink)
    for n in range(1, 4):
        made.emit(event(n))
        await made.flush()
        assert len(sink.lines) == n == sink.synced
    made.emit(event(4))
    await made.close()
    assert len(sink.lines) == 4


async def test_a_full_disk_loses_nothing_and_stops_nobody() -> None:
    good, full = MemorySink(), MemorySink(full=True)
    made = journal(full, good)
    for n in range(3):
        made.emit(event(n))
    await made.flush()
    assert (len(good.lines), full.lines) == (3, [])
    full.full = False
    made.emit(event(3))
    await made.close()
    assert [e["seq"] for e in full.events()] == [1, 2, 3, 4]


async def test_a_sink_that_stays_full_is_given_up_without_a_gap() -> None:
    sink = MemorySink()
    made = journal(sink)
    made.emit(event(0))
    await made.flush()
    sink.full = True
    await overflow(made)
    sink.full = False
    made.emit(event(1))
    await made.close()
    assert [e["seq"] for e in sink.events()] == [1]


async def test_a_torn_line_is_cut_off_when_the_file_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "journal.jsonl"
    first = journal(FileSink(path))
    first.emit(event(1))
    await first.close()
    with path.open("ab") as file:
        file.write(b'{"seq":2,"torn' + b"x" * 100_000)
    second = journal(FileSink(path))
    second.emit(event(2))
    await second.close()
    assert [json.loads(line)["sandboxId"] for line in path.read_text().splitlines()] == ["sbx-1", "sbx-2"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_of_one_torn_line_becomes_empty(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b"no newline")
    FileSink(path).close()
    assert path.read_bytes() == b""


def test_a_write_that_fails_half_way_leaves_no_half_line(tmp_path: Path) -> None:
    import resource
    import signal

    path = tmp_path / "journal.jsonl"
    sink = FileSink(path)
    sink.write(b"a" * 1000 + b"\n")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1500, hard))
        with pytest.raises(OSError, match="File too large"):
            sink.write(b"b" * 1000 + b"\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert path.read_bytes() == b"a" * 1000 + b"\n"
    sink.write(b"c\n")
    sink.close()
    assert path.read_bytes().endswith(b"a\nc\n")


async def test_a_stream_is_left_open_and_a_closed_one_does_no_harm() -> None:
    stream, closed, sink = io.StringIO(), io.StringIO(), MemorySink()
    closed.close()
    made = journal(StreamSink(stream), StreamSink(closed), sink)
    made.emit(event(1))
    await made.close()
    assert json.loads(stream.getvalue())["seq"] == 1
    assert len(sink.lines) == 1


async def test_secrets_and_odd_characters() -> None:
    sink = MemorySink()
    made = journal(sink, secrets=("s3cret-key",))
    made.emit(ToolCall(id="c", name=clip("x\ud800"), args='curl -H "s3cret-key" é\n'))
    await made.close()
    (line,) = sink.events()
    assert (line["args"], line["name"]) == ('curl -H "***" é\n', "x?")
    assert b"s3cret" not in sink.lines[0]


@pytest.mark.parametrize(
    "event",
    [
        ToolCall(id="c", name="bash", args='"\\ \t\x01\x7f\u2028 é'),
        ToolCall(id="c", name="x\ud800", args="{}"),
        LlmCircuit(endpoint="e", state="open", failures=5, open_seconds=60.0),
        LlmCircuit(endpoint="e", state="closed", failures=0),
        ModelRequest(
            request="r",
            messages=(MessageInfo(id=None, role="ai", chars=1),),
            system_hash="0",
            tools=("bash",),
        ),
    ],
)
def test_the_quick_way_to_json_is_the_slow_one(event: Event) -> None:
    assert event.json_body() == as_json(event.body())


async def test_a_secret_with_characters_that_json_escapes_is_found() -> None:
    sink = MemorySink()
    made = journal(sink, secrets=('pass"word\\\n',))
    made.emit(ToolCall(id="c", name="bash", args='login pass"word\\\n now'))
    await made.close()
    assert sink.events()[0]["args"] == "login *** now"


def test_every_event_has_a_type_of_its_own() -> None:
    assert len(EVENT_TYPES) == len(Event.__subclasses__())
    assert {"run.start", "run.end", "model.request", "model.response", "tool.call", "tool.result"} <= set(
        EVENT_TYPES
    )


def test_the_reference_names_every_event_and_field() -> None:
    text = (Path(__file__).parents[3] / "docs" / "reference" / "journal.md").read_text()
    for name, kind in EVENT_TYPES.items():
        assert f"`{name}`" in text, name
        for field in kind.model_fields.values():
            assert f"`{field.alias}`" in text, (name, field.alias)


async def test_a_fault_is_told_once_and_so_is_its_end() -> None:
    told: list[str | None] = []
    sink = MemorySink(full=True)
    made = Journal([sink], run="r", thread="t", epoch=1, clock=lambda: NOW, on_fault=told.append)
    for n in range(3):
        made.emit(event(n))
    await made.flush()
    assert told == ["memory can't be written: [Errno 28] No space left on device"]
    sink.full = False
    made.emit(event(3))
    await made.close()
    assert told[1:] == [None]
    assert [e["seq"] for e in sink.events()] == [1, 2, 3, 4]


async def test_a_sink_that_is_given_up_is_told_of_to_the_end() -> None:
    told: list[str | None] = []
    sink = MemorySink(full=True)
    made = Journal([sink], run="r", thread="t", epoch=1, clock=lambda: NOW, on_fault=told.append)
    await overflow(made)
    sink.full = False
    made.emit(event(1))
    await made.close()
    assert len(told) == 2
    assert str(told[-1]).endswith("given up: the rest of the journal is not there")


async def test_a_file_that_could_not_be_opened_is_told_of_at_once_and_never_unsaid() -> None:
    told: list[str | None] = []
    sink = MemorySink(full=True)
    made = Journal(
        [sink],
        run="r",
        thread="t",
        epoch=1,
        clock=lambda: NOW,
        on_fault=told.append,
        missing="journal.jsonl can't",
    )
    assert told == ["journal.jsonl can't"]
    made.emit(event(0))
    await made.flush()
    sink.full = False
    await made.close()
    assert told == ["journal.jsonl can't"]


async def test_a_device_without_space_says_so() -> None:
    told: list[str | None] = []
    made = Journal(
        [FileSink(Path("/dev/full"))], run="r", thread="t", epoch=1, clock=lambda: NOW, on_fault=told.append
    )
    made.emit(event(0))
    await made.close()
    assert told == ["full can't be written: [Errno 28] No space left on device"]


async def test_a_journal_that_cannot_be_synced_is_told_of_and_a_later_success_proves_nothing(
    tmp_path: Path,
) -> None:
    told: list[str | None] = []
    path = tmp_path / "journal.jsonl"

    async def keep() -> None:
        made = Journal(
            [FileSink(path)], run="r", thread="t", epoch=1, clock=lambda: NOW, on_fault=told.append
        )
        made.emit(event(0))
        await made.flush()
        made.emit(event(1))
        await made.close()

    def on_a_bad_disk() -> None:
        refuse_fsync()
        asyncio.run(keep())

    bad = threading.Thread(target=on_a_bad_disk)
    bad.start()
    await asyncio.to_thread(bad.join)
    assert told == ["journal.jsonl can't be synced: [Errno 5] Input/output error"]
    assert len(path.read_text().splitlines()) == 2


async def test_a_sync_that_failed_is_never_unsaid() -> None:
    told: list[str | None] = []
    sink = MemorySink(unsynced=True)
    made = Journal([sink], run="r", thread="t", epoch=1, clock=lambda: NOW, on_fault=told.append)
    made.emit(event(0))
    await made.flush()
    sink.unsynced = False
    made.emit(event(1))
    await made.close()
    assert told == ["memory can't be synced: [Errno 5] Input/output error"]


async def test_a_device_has_nothing_to_sync() -> None:
    told: list[str | None] = []
    made = Journal(
        [FileSink(Path("/dev/null"))], run="r", thread="t", epoch=1, clock=lambda: NOW, on_fault=told.append
    )
    made.emit(event(0))
    await made.close()
    assert told == []
