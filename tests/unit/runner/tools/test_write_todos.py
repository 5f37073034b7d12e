"""write_todos: the list as state, status and journal have it; what is refused."""

from __future__ import annotations

import pytest

from skerry_api.phases import OutcomeClass
from skerry_runner.state import TodoItem
from skerry_runner.tools.write_todos import TODO_CHARS, TODOS_MAX, report_of, write_todos
from skerry_testing.runnerworld import RunnerWorld, document
from skerry_testing.threadruns import ThreadRuns


def todo(content: str, status: str = "pending") -> TodoItem:
    return {"content": content, "status": status}  # type: ignore[typeddict-item]  # a table's strings


@pytest.mark.parametrize(
    ("todos", "text"),
    [
        ([], "OK: the list is empty now"),
        ([todo("a")], "OK: 1 todo: 1 pending"),
        (
            [todo("a"), todo("b", "in_progress"), todo("c", "completed"), todo("d", "completed")],
            "OK: 4 todos: 2 completed, 1 in progress, 1 pending",
        ),
    ],
)
def test_the_result(todos: list[TodoItem], text: str) -> None:
    assert report_of(todos) == text


LIST = (
    '{name: write_todos, id: c1, args: {todos: [{content: " look ", status: completed}, '
    '{content: "say é", status: in_progress}]}}'
)


@pytest.fixture
def runs(world: RunnerWorld) -> ThreadRuns:
    return ThreadRuns(world, extra_tools=[write_todos])


async def test_the_list_is_written(world: RunnerWorld, runs: ThreadRuns) -> None:
    expect = "{contains: ['tool: write_todos .success.: OK: 2 todos: 1 completed, 1 in progress']}"
    result = await runs.play(document(f"steps: [{{toolCalls: [{LIST}]}}, {{expect: {expect}, say: ok}}]"))
    assert (result.outcome.message, world.provider.acquired) == ("", 0)
    assert (await runs.values())["todos"] == [todo("look", "completed"), todo("say é", "in_progress")]
    (event,) = world.sink.events("todo")
    assert event["todos"] == [todo("look", "completed"), todo("say é", "in_progress")]
    shown = result.progress.wire()["todos"]
    assert shown == [
        {"content": "look", "status": "Completed"},
        {"content": "say é", "status": "InProgress"},
    ]


async def test_a_new_list_replaces_the_old_one_and_may_be_empty(world: RunnerWorld, runs: ThreadRuns) -> None:
    empty = "{name: write_todos, id: c2, args: {todos: []}}"
    result = await runs.play(
        document(f"steps: [{{toolCalls: [{LIST}]}}, {{toolCalls: [{empty}]}}, {{say: ok}}]")
    )
    assert result.answer == "ok"
    assert (await runs.values())["todos"] == []
    assert result.progress.todos is None
    assert [len(event["todos"]) for event in world.sink.events("todo")] == [2, 0]


@pytest.mark.parametrize(
    "args",
    [
        "{}",
        "{todos: 5}",
        "{todos: [look]}",
        "{todos: [{content: look}]}",
        "{todos: [{content: look, status: done}]}",
        "{todos: [{content: '  ', status: pending}]}",
        "{todos: [{content: [1], status: pending}]}",
        "{todos: [{content: look, status: pending, more: 1}]}",
        '{todos: [{content: "half \\ud800", status: pending}]}',
        f"{{todos: [{{content: {'x' * (TODO_CHARS + 1)}, status: pending}}]}}",
        f"{{todos: [{', '.join(['{content: a, status: pending}'] * (TODOS_MAX + 1))}]}}",
    ],
)
async def test_a_bad_list_is_an_error_and_changes_nothing(
    world: RunnerWorld, runs: ThreadRuns, args: str
) -> None:
    script = f"""steps:
- toolCalls: [{LIST}]
- toolCalls: [{{name: write_todos, id: c2, args: {args}}}]
- {{expect: {{contains: ['tool: write_todos .error.: ']}}, say: ok}}
"""
    result = await runs.play(document(script))
    assert (result.outcome.class_, result.outcome.message) == (OutcomeClass.SUCCEEDED, "")
    assert len((await runs.values())["todos"]) == 2
    assert len(world.sink.events("todo")) == 1


async def test_two_lists_in_one_message_are_both_refused(world: RunnerWorld, runs: ThreadRuns) -> None:
    other = "{name: write_todos, id: c2, args: {todos: [{content: b, status: pending}]}}"
    sibling = "{name: ls, id: c3}"
    script = f"""steps:
- toolCalls: [{LIST}, {sibling}, {other}]
- {{expect: {{contains: ['(?s)write_todos .error.: .*more than once.*write_todos .error.: .*more than once']}}, say: ok}}
"""
    result = await runs.play(document(script))
    assert result.outcome.message == ""
    assert "todos" not in await runs.values()
    assert world.sink.events("todo") == []
    assert [e["status"] for e in world.sink.events("tool.result") if e["name"] == "ls"] == ["success"]


async def test_lists_of_two_messages_are_not_two_in_one(runs: ThreadRuns) -> None:
    # Some providers count their call ids from the start in each message.
    again = LIST.replace("completed", "pending")
    script = f"steps: [{{toolCalls: [{LIST}]}}, {{toolCalls: [{again}]}}, {{say: ok}}]"
    assert (await runs.play(document(script))).answer == "ok"
    assert (await runs.values())["todos"][0] == todo("look", "pending")
