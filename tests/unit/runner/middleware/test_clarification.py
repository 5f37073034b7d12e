"""Clarification through the real graph: what runs beside a question, the pause, the answer, what is counted."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from skerry_api.phases import OutcomeClass, QuestionType
from skerry_api.report import Outcome, Question
from skerry_runner.checkpoint import memory_saver
from skerry_runner.invocation import Invocation, thread_key
from skerry_runner.outcome import awaiting
from skerry_runner.ports import Cancellation, CancelReason, RunResult
from skerry_runner.questions import ASK, question_id
from skerry_runner.run import until_end
from skerry_runner.sandbox.types import ExecResult
from skerry_runner.tools.ask_clarification import DECIDE
from skerry_testing.fakesandbox import Command, echo
from skerry_testing.runnerworld import AnsweringPeople, RunnerWorld, document

ASKED = "{name: ask_clarification, id: q, args: {question: 'Which?', clarification_type: approach_choice, options: [a, b]}}"
BEFORE = "{name: bash, id: before, args: {command: 'echo before'}}"
AFTER = "{name: bash, id: after, args: {command: 'echo after'}}"


def script(*calls: str, then: str = "{say: fine}") -> str:
    return f"steps: [{{toolCalls: [{', '.join(calls)}]}}, {then}]"


def commands(world: RunnerWorld) -> list[str]:
    return [command.command for command in world.provider.sandbox.commands]


def calls_of(world: RunnerWorld, kind: str) -> list[str]:
    return [event["id"] for event in world.sink.events(kind)]


async def tool_messages(saver: InMemorySaver) -> dict[str, ToolMessage]:
    kept = await saver.aget({"configurable": {"thread_id": thread_key(document()), "checkpoint_ns": ""}})
    assert kept is not None
    found = [m for m in kept["channel_values"]["messages"] if isinstance(m, ToolMessage)]
    assert len({m.tool_call_id for m in found}) == len(found)
    return {m.tool_call_id: m for m in found}


async def twice(
    world: RunnerWorld, text: str, answer: str = "b", **kwargs: Any
) -> tuple[RunResult, RunResult, InMemorySaver]:
    """A run that pauses, and the next epoch with the answer: two processes with one checkpointer."""
    saver = memory_saver()
    paused = await world.run(document(text, **kwargs), checkpointer=saver)
    world.people = AnsweringPeople([answer])
    done = await world.run(document(text, epoch=2, **kwargs), checkpointer=saver)
    return paused, done, saver


async def test_a_question_pauses_and_its_answer_goes_on(world: RunnerWorld) -> None:
    then = "{expect: {contains: ['tool: .*ask_clarification.*\\n?.*make it b'], lastRole: tool}, say: fine}"
    paused, done, saver = await twice(world, script(ASKED, then=then), "make it b")
    question = paused.question
    assert question is not None
    assert (paused.outcome.class_, paused.answer, paused.stop_reason) == (
        OutcomeClass.AWAITING_INPUT,
        None,
        None,
    )
    assert (question.text, question.type, question.options) == (
        "Which?",
        QuestionType.APPROACH_CHOICE,
        ("a", "b"),
    )
    assert (done.outcome.class_, done.answer, done.question) == (OutcomeClass.SUCCEEDED, "fine", None)
    message = (await tool_messages(saver))["q"]
    assert (message.content, message.name, message.status) == ("make it b", ASK, "success")
    assert world.people.asked == [question]


async def test_the_id_is_that_of_run_message_and_place(world: RunnerWorld) -> None:
    saver = memory_saver()
    paused = await world.run(document(script(BEFORE, ASKED)), checkpointer=saver)
    kept = await saver.aget({"configurable": {"thread_id": thread_key(document()), "checkpoint_ns": ""}})
    assert kept is not None
    assert paused.question is not None
    (said,) = [m for m in kept["channel_values"]["messages"] if isinstance(m, AIMessage)]
    assert paused.question.id == question_id("run-uid-1", said.id or "", 1)


async def test_siblings_before_finish_and_those_after_are_not_started(world: RunnerWorld) -> None:
    paused, done, saver = await twice(world, script(BEFORE, ASKED, AFTER))
    assert paused.outcome.class_ is OutcomeClass.AWAITING_INPUT
    assert done.outcome.class_ is OutcomeClass.SUCCEEDED
    assert commands(world) == ["echo before"]
    messages = await tool_messages(saver)
    assert {id_: m.status for id_, m in messages.items()} == {
        "before": "success",
        "q": "success",
        "after": "error",
    }
    assert "Not started" in str(messages["after"].content)


async def test_a_sibling_that_takes_longer_than_the_question_finishes(world: RunnerWorld) -> None:
    async def until_asked(command: Command) -> ExecResult:
        while not world.sink.events("question"):
            await world.journal.flush()
        return await echo(command)

    world.provider.sandbox.shell = until_asked
    paused, done, saver = await twice(world, script(BEFORE, ASKED))
    assert paused.outcome.class_ is OutcomeClass.AWAITING_INPUT
    assert done.outcome.class_ is OutcomeClass.SUCCEEDED
    assert (await tool_messages(saver))["before"].content == "echo before"
    assert commands(world) == ["echo before"]


async def test_a_second_question_is_not_asked(world: RunnerWorld) -> None:
    second = "{name: ask_clarification, id: q2, args: {question: 'And?'}}"
    paused, done, saver = await twice(world, script(ASKED, second))
    assert paused.question is not None
    assert paused.question.text == "Which?"
    assert done.outcome.class_ is OutcomeClass.SUCCEEDED
    messages = await tool_messages(saver)
    assert (messages["q"].content, messages["q2"].status) == ("b", "error")
    assert "one question at a time" in str(messages["q2"].content)
    assert len(world.sink.events("question")) == 1


async def test_nothing_is_recorded_or_counted_twice(world: RunnerWorld) -> None:
    paused, done, _ = await twice(world, script(BEFORE, ASKED, AFTER))
    assert calls_of(world, "tool.call") == ["before", "q"]
    assert sorted(calls_of(world, "tool.result")) == ["after", "before", "q"]
    (event,) = world.sink.events("question")
    assert paused.question is not None
    assert {key: event[key] for key in ("id", "call", "kind", "text", "options")} == {
        "id": paused.question.id, "call": "q", "kind": "ApproachChoice", "text": "Which?", "options": ["a", "b"],
    }  # fmt: skip
    assert (paused.progress.tool_calls, done.progress.tool_calls) == (2, 0)
    assert [paused.progress.turn, done.progress.turn] == [1, 2]
    assert [call for call in world.reporter.calls if call.startswith("first")] == ["first_tool_call 1"]
    assert [e["outcome"]["class"] for e in world.sink.events("run.end")] == ["AwaitingInput", "Succeeded"]


async def test_in_place_the_same_process_goes_on(world: RunnerWorld) -> None:
    world.people = AnsweringPeople(["b"])
    result = await world.run(document(script(BEFORE, ASKED)))
    assert (result.outcome.class_, result.answer, result.progress.tool_calls) == (
        OutcomeClass.SUCCEEDED, "fine", 2,
    )  # fmt: skip
    assert calls_of(world, "tool.call") == ["before", "q"]
    assert len(world.sink.events("run.end")) == 1


async def test_question_after_question(world: RunnerWorld) -> None:
    world.people = AnsweringPeople(["one", "two"])
    again = "{name: ask_clarification, id: q, args: {question: 'And?'}}"
    result = await world.run(
        document(f"steps: [{{toolCalls: [{ASKED}]}}, {{toolCalls: [{again}]}}, {{say: fine}}]")
    )
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED
    assert [q.text for q in world.people.asked] == ["Which?", "And?"]
    assert len({q.id for q in world.people.asked}) == 2
    assert [e["content"] for e in world.sink.events("tool.result")] == ["one", "two"]


async def test_a_new_epoch_without_the_answer_asks_again_and_records_nothing(world: RunnerWorld) -> None:
    saver = memory_saver()
    first = await world.run(document(script(BEFORE, ASKED)), checkpointer=saver)
    again = await world.run(document(script(BEFORE, ASKED), epoch=2), checkpointer=saver)
    assert again.outcome.class_ is OutcomeClass.AWAITING_INPUT
    assert again.question == first.question
    assert commands(world) == ["echo before"]
    assert len(world.sink.events("question")) == 1
    assert calls_of(world, "tool.call") == ["before", "q"]


async def test_cancel_while_it_waits(world: RunnerWorld) -> None:
    world.people = AnsweringPeople(waits=True)
    task = asyncio.create_task(world.run(document(script(BEFORE, ASKED))))
    await world.people.waiting.wait()
    world.cancellation.request(CancelReason.CANCELLED)
    result = await task
    assert (result.outcome.class_, result.question) == (OutcomeClass.CANCELLED, None)
    assert world.provider.released == 1


async def test_not_interactive_the_tool_answers_and_nothing_is_held_up(world: RunnerWorld) -> None:
    what = document(script(ASKED, AFTER), pipeline={"clarification": {"enabled": False}})
    saver = memory_saver()
    result = await world.run(what, checkpointer=saver)
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED
    assert commands(world) == ["echo after"]
    assert (await tool_messages(saver))["q"].content == DECIDE
    assert (world.people.asked, world.sink.events("question")) == ([], [])


@pytest.mark.parametrize("enabled", [True, False])
async def test_a_question_without_text_is_an_error_and_pauses_nothing(
    world: RunnerWorld, enabled: bool
) -> None:
    bad = "{name: ask_clarification, id: q, args: {question: ' ', options: {a: 1}}}"
    saver = memory_saver()
    what = document(script(bad, AFTER), pipeline={"clarification": {"enabled": enabled}})
    result = await world.run(what, checkpointer=saver)
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED
    messages = await tool_messages(saver)
    assert (messages["q"].status, messages["after"].status) == ("error", "success")


async def test_secrets_do_not_leave_with_a_question(world: RunnerWorld) -> None:
    asked = "{name: ask_clarification, id: q, args: {question: 'Use key-12345?', context: 'key-12345', options: [key-12345]}}"
    result = await world.run(document(script(asked)), api_key="key-12345")
    assert result.question is not None
    assert (result.question.text, result.question.context, result.question.options) == (
        "Use ***?",
        "***",
        ("***",),
    )


@pytest.mark.parametrize(
    ("reason", "class_"),
    [
        (CancelReason.INTERRUPTED, OutcomeClass.AWAITING_INPUT),
        (CancelReason.CANCELLED, OutcomeClass.CANCELLED),
        (CancelReason.FENCED, OutcomeClass.INTERRUPTED),
    ],
)
async def test_a_stop_in_the_moment_of_the_pause(reason: CancelReason, class_: OutcomeClass) -> None:
    cancellation = Cancellation()
    question = Question(id="q", type=QuestionType.SUGGESTION, text="?")

    class Pausing:
        async def run(self) -> RunResult:
            cancellation.request(reason)
            return RunResult(awaiting(question), question=question)

        def result(self, outcome: Outcome) -> RunResult:
            return RunResult(outcome)

    result = await until_end(cast("Invocation", Pausing()), cancellation)
    assert result.outcome.class_ is class_
    assert (result.question == question) is (class_ is OutcomeClass.AWAITING_INPUT)
