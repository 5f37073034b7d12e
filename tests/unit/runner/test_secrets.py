"""A secret that is planted wherever a text can come from is seen nowhere that texts go to."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from typing_extensions import override

from skerry_api.phases import OutcomeClass
from skerry_api.report import QUESTION_MAX, TODO_MAX
from skerry_runner.cluster.logs import JsonFormatter
from skerry_runner.events import TEXT_MAX, ToolResult, clip
from skerry_runner.outcome import Redactor
from skerry_runner.paths import OUTPUTS
from skerry_runner.ports import RunResult
from skerry_testing.policies import TellTale
from skerry_testing.runnerworld import RecordingReporter, RunnerWorld, document

KEY = "sk-planted-0123456789"
SCRIPT = f"""
steps:
- toolCalls: [{{name: write_todos, args: {{todos: [{{content: "use {KEY}", status: completed}}]}}}}]
- say: "I shall use {KEY}"
  thinking: "the key is {KEY}"
  toolCalls:
  - {{name: write_file, args: {{path: {OUTPUTS}/{KEY}.txt, content: "{KEY}"}}}}
- toolCalls: [{{name: read_file, args: {{path: {OUTPUTS}/{KEY}.txt}}}}]
- toolCalls: [{{name: present_files, args: {{filepaths: [{OUTPUTS}/{KEY}.txt]}}}}, {{name: "no_{KEY}", args: {{}}}}]
- say: "It is {KEY}."
- purpose: title
  say: "About {KEY}"
"""


async def test_a_planted_key_is_blanked_out_everywhere() -> None:
    async with RunnerWorld(secrets=[KEY]) as world:
        pipeline = {"todoList": {"enabled": True}}
        made = document(SCRIPT, prompt=f"My key is {KEY}.", pipeline=pipeline)
        result = await world.run(made, api_key=KEY)
        assert result.outcome.class_ is OutcomeClass.SUCCEEDED, result.outcome.message
        told = [progress.model_dump_json() for progress, _ in world.reporter.counters]
        shown = [
            result.outcome.model_dump_json(),
            result.progress.model_dump_json(),
            result.answer or "",
            *(each.model_dump_json() for each in result.artifacts or ()),
        ]
    journal = b"".join(world.sink.lines).decode()
    assert KEY not in journal
    assert [text for text in (*told, *shown) if KEY in text] == []
    # It was there to be seen: what stands in its place shows where.
    assert result.answer == "It is ***."
    assert result.progress.title
    assert "***" in result.progress.title
    assert [todo.content for todo in result.progress.todos or ()] == ["use ***"]
    assert [each.path for each in result.artifacts or ()] == [f"{OUTPUTS}/***.txt"]
    starred = {json.loads(line)["type"] for line in world.sink.lines if b"***" in line}
    assert starred >= {"model.response", "tool.call", "tool.result", "todo", "artifact", "title"}


async def test_a_key_in_an_error_is_blanked_out_too() -> None:
    script = f"steps: [{{error: {{status: 401, code: invalid_key, message: 'bad key {KEY}'}}}}]"
    async with RunnerWorld(secrets=[KEY]) as world:
        result = await world.run(document(script), api_key=KEY)
    assert (result.outcome.class_, KEY in result.outcome.message) == (OutcomeClass.MODEL_ERROR, False)
    assert "***" in result.outcome.message
    assert KEY.encode() not in b"".join(world.sink.lines)


AWKWARD = 'sk-pl"an\\ted\n0123456789'
"""JSON and Python write it otherwise than it is."""
PIECES = ("sk-pl", "0123456789")


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """What the Pod's log would hold."""
    lines: list[str] = []
    formatter = JsonFormatter()
    formatter.hide([AWKWARD])

    class Kept(logging.Handler):
        @override
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(formatter.format(record))

    kept = Kept()
    logging.getLogger().addHandler(kept)
    yield lines
    logging.getLogger().removeHandler(kept)


async def play(*steps: dict[str, Any], **kwargs: Any) -> tuple[str, RunResult, RecordingReporter]:
    async with RunnerWorld(secrets=[AWKWARD]) as world:
        made = document(json.dumps({"steps": steps}), **kwargs)
        result = await world.run(made, api_key=AWKWARD)
    return b"".join(world.sink.lines).decode(), result, world.reporter


def assert_nowhere(*texts: str) -> None:
    assert [text for text in texts if any(piece in text for piece in PIECES)] == []


async def test_a_key_that_json_writes_otherwise_is_blanked_out_of_arguments_and_results() -> None:
    inner = json.dumps({"deep": [AWKWARD]})
    args = {"path": f"{OUTPUTS}/a", "content": inner, "description": AWKWARD}
    calls = [{"name": "write_file", "args": args}, {"name": "read_file", "args": {"path": f"{OUTPUTS}/a"}}]
    journal, result, _ = await play(
        {"toolCalls": calls[:1]}, {"toolCalls": calls[1:]}, {"say": f"Here: {json.dumps([AWKWARD])}"}
    )
    lines = [json.loads(line) for line in journal.splitlines()]
    (told,) = [json.loads(e["args"]) for e in lines if e["type"] == "tool.call" and e["name"] == "write_file"]
    assert told == {"path": f"{OUTPUTS}/a", "content": '{"deep": ["***"]}', "description": "***"}
    assert ['{"deep": ["***"]}' in e["content"] for e in lines if e["type"] == "tool.result"] == [False, True]
    assert_nowhere(journal, result.answer or "")
    assert result.answer == 'Here: ["***"]'


@pytest.mark.parametrize("shown", range(1, len(AWKWARD)))
async def test_a_key_in_which_a_text_is_cut_leaves_no_beginning(shown: int) -> None:
    text = "x" * (TEXT_MAX - shown) + AWKWARD
    async with RunnerWorld(secrets=[AWKWARD]) as world:
        world.journal.emit(
            ToolResult(id="c", name="t", status="success", content=clip(text), chars=len(text))
        )
    (event,) = world.sink.events()
    assert event["content"] == "x" * (TEXT_MAX - shown)


async def test_what_status_cuts_is_redacted_before() -> None:
    long = "y" * (TODO_MAX - 8) + AWKWARD
    todos = {"name": "write_todos", "args": {"todos": [{"content": long, "status": "completed"}]}}
    asked = {"name": "ask_clarification", "args": {"question": "z" * (QUESTION_MAX - 8) + AWKWARD}}
    journal, result, reporter = await play(
        {"toolCalls": [todos]}, {"toolCalls": [asked]}, pipeline={"todoList": {"enabled": True}}
    )
    assert result.question is not None
    assert_nowhere(result.question.text or "", *(told.model_dump_json() for told, _ in reporter.counters))
    assert result.progress.todos
    assert_nowhere(*(line for line in journal.splitlines() if '"question"' in line))


async def test_errors_of_others_are_redacted_in_logs_journal_and_status(logged: list[str]) -> None:
    TellTale.words = f"{'w' * 490}{AWKWARD}"
    journal, result, _ = await play(
        {"toolCalls": [{"name": "ls", "args": {"path": "/"}}]}, {"say": "ok"},
        guardrail={"path": "skerry_testing.policies:TellTale"},
    )  # fmt: skip
    assert result.answer == "ok"
    assert any("gave no decision" in line for line in logged)
    assert any("***" in line for line in logged)
    assert_nowhere(journal, *logged)


def test_traces_of_the_log_hold_no_key(logged: list[str]) -> None:
    log, keys = logging.getLogger("skerry_runner.test"), dict[str, int]()
    try:
        keys[AWKWARD] += 1
    except KeyError:
        log.exception("it failed: %s", {"key": AWKWARD})
    assert len(logged) == 1
    assert_nowhere(*logged)
    assert "KeyError" in json.loads(logged[0])["trace"]


def test_a_redactor_knows_a_secret_as_json_and_python_write_it() -> None:
    redact = Redactor([AWKWARD])
    for written in (AWKWARD, json.dumps(AWKWARD)[1:-1], repr(AWKWARD)[1:-1]):
        assert redact(f"a {written} b") == "a *** b"
    assert redact.cut("ab" + AWKWARD, 3) == "ab*"
