"""A question that is resumed passes every row of the table once more, and none asks, counts or records it twice."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from typing_extensions import override

from skerry_api.document import RunDocument
from skerry_api.phases import OutcomeClass
from skerry_api.report import Question
from skerry_runner.checkpoint import memory_saver
from skerry_runner.invocation import Invocation
from skerry_runner.pipeline import ROWS, assemble
from skerry_runner.ports import RunResult
from skerry_runner.toolservers import no_servers
from skerry_testing.policies import policy_server
from skerry_testing.runnerworld import AnsweringPeople, RunnerWorld, document

SCRIPT = """
steps:
- toolCalls:
  - {name: ls, args: {path: /mnt/user-data}, id: before}
  - {name: ask_clarification, args: {question: 'Which?'}, id: q}
  - {name: ls, args: {path: /mnt/user-data}, id: after}
- {expect: {contains: ['make it b']}, say: done}
"""
ALLOWED, DENIED = b'{"result": true}', b'{"result": false}'


def full(policy: str, epoch: int, *, fail_closed: bool = True) -> RunDocument:
    """A run with every row of the table, a guardrail of every kind among them."""
    return document(
        SCRIPT, epoch=epoch, vision=True,
        pipeline={
            "summarization": {"enabled": True, "trigger": [{"messages": 60}]},
            "todoList": {"enabled": True}, "memory": {"enabled": True},
            "custom": [{"path": "skerry_testing.customrows:Polite", "settings": {"word": "please"}}],
        },
        guardrail={
            "deny": ["none"], "rules": [{"tool": "bash", "argument": "command", "regex": "^rm"}],
            "http": {"url": policy, "timeoutSeconds": 60}, "path": "skerry_testing.policies:PlainPolicy",
            "failClosed": fail_closed,
        },
        subagents={"enabled": True},
        mcp_servers=[{"name": "wiki", "transport": "StreamableHTTP", "url": "http://192.0.2.1/mcp"}],
    )  # fmt: skip


class Asked:
    """A policy endpoint that notes which calls it is asked about; `status` and `answer` may change."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.status, self.answer = 200, ALLOWED

    def __call__(self, body: dict[str, Any], _: dict[str, str]) -> tuple[int, bytes]:
        self.calls.append(body["input"]["id"])
        return self.status, self.answer


class People(AnsweringPeople):
    """What befalls the endpoint while a person thinks."""

    def __init__(self, asked: Asked, status: int, answer: bytes) -> None:
        super().__init__(["make it b"])
        self._asked, self._then = asked, (status, answer)

    @override
    async def ask(self, question: Question) -> str | None:
        self._asked.status, self._asked.answer = self._then
        return await super().ask(question)


def test_the_document_has_every_row() -> None:
    assert {spec.name for spec in ROWS} <= {row.name for row in assemble(full("http://127.0.0.1:1", 1))}


async def play(world: RunnerWorld, what: RunDocument, saver: Any) -> RunResult:
    invocation = Invocation(what, world.ports(), api_key=None, checkpointer=saver, servers=no_servers)
    async with invocation.session.hold():
        result = await invocation.run()
    await world.journal.flush()
    return result


def record(world: RunnerWorld) -> Counter[str]:
    """How often each thing that belongs to a call stands in the journal."""
    events = (e for e in world.sink.events() if "id" in e and e["type"] != "model.response")
    return Counter(f"{e['type']} {e.get('call', e['id'])}" for e in events)


ONCE = {"tool.call before": 1, "tool.result before": 1, "tool.call q": 1, "question q": 1, "tool.result q": 1, "tool.result after": 1}  # fmt: skip


@pytest.mark.parametrize(("status", "answer"), [(200, ALLOWED), (200, DENIED), (503, b"")])
@pytest.mark.parametrize("in_place", [True, False], ids=["same process", "another epoch"])
async def test_nothing_twice_and_the_answer_arrives(
    world: RunnerWorld, status: int, answer: bytes, in_place: bool
) -> None:
    asked, saver = Asked(), memory_saver()
    async with policy_server(asked) as url:
        calls = 0
        if not in_place:
            paused = await play(world, full(url, 1), saver)
            assert paused.outcome.class_ is OutcomeClass.AWAITING_INPUT, paused.outcome
            calls = paused.progress.tool_calls
        world.people = People(asked, status, answer)
        done = await play(world, full(url, 2), saver)
    assert (done.outcome.class_, done.answer) == (OutcomeClass.SUCCEEDED, "done"), done.outcome
    assert sorted(asked.calls) == ["before", "q"]
    assert record(world) == ONCE
    assert calls + done.progress.tool_calls == 2
    (said,) = [e for e in world.sink.events("tool.result") if e["id"] == "q"]
    assert (said["status"], said["content"]) == ("success", "make it b")
    assert json.dumps(world.sink.events("pipeline.fault")) == "[]"


async def test_a_call_let_through_without_a_decision_is_told_of_once(world: RunnerWorld) -> None:
    asked, saver = Asked(), memory_saver()
    asked.status = 503
    async with policy_server(asked) as url:
        await play(world, full(url, 1, fail_closed=False), saver)
        world.people = AnsweringPeople(["make it b"])
        done = await play(world, full(url, 2, fail_closed=False), saver)
    assert done.answer == "done"
    assert record(world) == ONCE | {"guardrail before": 1, "guardrail q": 1}
