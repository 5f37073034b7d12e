"""Summarization in runs: the rewrite, what goes wrong with it, and its neighbours."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from typing_extensions import override

from skerry_api.phases import OutcomeClass
from skerry_api.rows.summarization import HistorySize, SummarizationSettings
from skerry_runner.messages import REMINDER
from skerry_runner.middleware.dynamiccontext import DynamicContext
from skerry_runner.middleware.skillactivation import SkillActivation
from skerry_runner.middleware.summarization import Summarization
from skerry_runner.middleware.summarization.row import RETRY_TURNS, usable_text
from skerry_runner.middleware.todolist import TodoList
from skerry_runner.skills import Skill
from skerry_testing.runnerworld import RunnerWorld, document
from skerry_testing.threadruns import ThreadRuns


def row(trigger: int = 6, keep: int = 2, **kwargs: Any) -> Summarization:
    return Summarization(
        SummarizationSettings(
            trigger=(HistorySize(messages=trigger),), keep=HistorySize(messages=keep), **kwargs
        )
    )


LS = "toolCalls: [{name: ls}]"
NOTES = "{purpose: summary, say: NOTES, usage: {input: 30, output: 4}, expect: {contains: ['^system: You keep the notes', 'human: <history>\\n.agent. calls ls']}}"
ONCE = f"""
steps:
- {{{LS}, usage: {{input: 1, output: 1}}}}
- {{{LS}, usage: {{input: 1, output: 1}}}}
- {NOTES}
- expect:
    contains: ['^system: You are an agent.\\nhuman: Please do it.\\nhuman: What follows is a summary[^\\n]*\\n\\nNOTES\\nai: \\nai: call ls [{{}}]+\\ntool: ls .success.: ']
  say: done
  usage: {{input: 1, output: 1}}
"""


async def once(world: RunnerWorld, *, fused: bool = True) -> tuple[ThreadRuns, Any]:
    runs = ThreadRuns(world, row(trigger=5), fused=fused)
    return runs, await runs.play(document(ONCE))


async def test_a_long_history_is_replaced(world: RunnerWorld) -> None:
    runs, result = await once(world)
    assert (result.outcome.message, result.answer) == ("", "done")
    assert [(m.type, m.name) for m in await runs.messages()] == [
        ("human", "user-input"), ("human", "summary"), ("ai", None), ("tool", "ls"), ("ai", None),
    ]  # fmt: skip
    (event,) = world.sink.events("summary")
    assert {k: event[k] for k in ("status", "removed", "kept", "chars", "skills")} == {
        "status": "replaced", "removed": 2, "kept": 3, "chars": 5, "skills": [],
    }  # fmt: skip


async def test_its_call_is_journalled_and_counted_as_internal(world: RunnerWorld) -> None:
    runs, result = await once(world)
    purposes = [event.get("purpose") for event in world.sink.events("model.request")]
    assert purposes == [None, None, "summary", None]
    (asked,) = [event for event in world.sink.events("model.request") if "purpose" in event]
    assert asked["tools"] == []
    assert (result.usage.total, result.progress.model_calls, result.progress.turn) == (40, 4, 3)
    limits = (await runs.values())["limits"]["run-uid-1"]
    assert (limits["internal"], limits["total"]) == (34, 40)


async def test_apart_it_does_the_same(world: RunnerWorld) -> None:
    runs, result = await once(world)
    async with RunnerWorld() as other:
        apart, separate = await once(other, fused=False)
        assert separate == result
        assert [(m.type, m.name, m.content) for m in await apart.messages()] == [
            (m.type, m.name, m.content) for m in await runs.messages()
        ]


FAILURES = {
    "a blank answer": ("{purpose: summary, say: ' '}", "it was blank"),
    "an error that is final": ("{purpose: summary, error: {status: 401, message: oops}}", "oops"),
    "an error, and no step for the next attempt": (
        "{purpose: summary, error: {status: 500}}",
        "no step left",
    ),
    "a refusal": (
        "{purpose: summary, say: No., finishReason: content_filter}",
        "the provider stopped it: content_filter",
    ),
    "no step": ("", "the script has no step left for the purpose summary"),
}


@pytest.mark.parametrize("case", FAILURES)
async def test_what_goes_wrong_changes_nothing(world: RunnerWorld, case: str) -> None:
    step, words = FAILURES[case]
    script = f"steps: [{{{LS}}}, {{{LS}}}, {step}{',' if step else ''} {{say: done, expect: {{absent: [summary]}}}}]"
    world_runs = ThreadRuns(world, row(trigger=5))
    result = await world_runs.play(document(script))
    assert (result.outcome.message, result.answer) == ("", "done")
    assert [m.type for m in await world_runs.messages()] == ["human", "ai", "tool", "ai", "tool", "ai"]
    (event,) = world.sink.events("summary")
    assert event["status"] == "failed"
    assert words in event["error"]


async def test_a_failure_is_tried_again_after_some_turns(world: RunnerWorld) -> None:
    turns = RETRY_TURNS + 3
    bad = ", ".join(["{purpose: summary, say: ''}"] * 2)
    script = f"steps: [{', '.join([f'{{{LS}}}'] * turns)}, {{say: done}}, {bad}]"
    runs = ThreadRuns(world, row(trigger=5))
    assert (await runs.play(document(script))).outcome.message == ""
    events = [e for e in world.sink.events() if e["type"] == "summary" or e.get("purpose") == "summary"]
    assert [e["type"] for e in events] == ["model.request", "summary"] * 2
    asked = [e.get("purpose") for e in world.sink.events("model.request")]
    first, second = [n for n, purpose in enumerate(asked) if purpose]
    assert second - first == RETRY_TURNS + 1


async def test_a_summary_step_that_does_not_fit_ends_the_run(world: RunnerWorld) -> None:
    script = f"steps: [{{{LS}}}, {{{LS}}}, {{purpose: summary, say: x, expect: {{contains: [nowhere]}}}}]"
    result = await ThreadRuns(world, row(trigger=5)).play(document(script))
    assert (result.outcome.class_, result.outcome.reason) == (OutcomeClass.APP_ERROR, "ScriptMismatch")
    assert "steps[2]" in result.outcome.message


@pytest.mark.parametrize(
    ("settings", "path"),
    [
        (
            {"trigger": (HistorySize(messages=9), HistorySize(fraction="0.8"))},
            "pipeline.summarization.trigger[1].fraction",
        ),
        ({"keep": HistorySize(fraction="0.1")}, "pipeline.summarization.keep.fraction"),
    ],
)
async def test_a_share_of_an_unknown_window_is_a_clear_error(
    world: RunnerWorld, settings: dict[str, Any], path: str
) -> None:
    result = await ThreadRuns(world, Summarization(SummarizationSettings(**settings))).play(document())
    assert (result.outcome.class_, result.outcome.reason) == ("InvalidSpec", "UnknownContextWindow")
    assert result.outcome.message.startswith(f"{path}: ")
    assert world.sink.events("model.request") == []


async def test_a_share_of_a_window_that_is_told(world: RunnerWorld) -> None:
    settings = SummarizationSettings(
        trigger=(HistorySize(fraction="0.5"),), keep=HistorySize(messages=2), context_tokens=1000
    )
    small = "usage: {input: 100, output: 1}"
    script = f"""steps:
- {{{LS}, {small}}}
- {{{LS}, usage: {{input: 500, output: 1}}}}
- {{purpose: summary, say: NOTES}}
- {{expect: {{contains: [NOTES]}}, {LS}, {small}}}
- {{say: done, {small}}}
"""
    result = await ThreadRuns(world, Summarization(settings)).play(document(script))
    assert (result.outcome.message, result.answer) == ("", "done")
    assert len(world.sink.events("summary")) == 1


class Crash(AgentMiddleware[Any, Any, Any]):
    """Raises once, in the turn after the summary."""

    armed = True

    @override
    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        if self.armed and any(m.name == "summary" for m in request.messages):
            self.armed = False
            raise ValueError("crash")
        return await handler(request)


async def test_an_epoch_after_a_crash_goes_on_from_the_summary(world: RunnerWorld) -> None:
    script = f"""strict: true
steps:
- {{{LS}}}
- {{{LS}}}
- {{purpose: summary, say: FIRST}}
- {{expect: {{contains: [FIRST]}}, {LS}}}
- {{purpose: summary, say: SECOND, expect: {{contains: ['.earlier summary. What follows[^\\n]*\\n\\nFIRST']}}}}
- {{expect: {{contains: [SECOND], absent: [FIRST]}}, say: done}}
"""
    runs = ThreadRuns(world, row(trigger=5), DynamicContext(), Crash())
    first = await runs.play(document(script))
    assert (first.outcome.class_, first.outcome.message) == (OutcomeClass.APP_ERROR, "crash")
    second = await runs.play(document(script, epoch=2))
    assert (second.outcome.message, second.answer) == ("", "done")
    assert [e["status"] for e in world.sink.events("summary")] == ["replaced", "replaced"]


async def test_a_cancelled_summary_changes_nothing(world: RunnerWorld) -> None:
    script = f"steps: [{{{LS}}}, {{{LS}}}, {{purpose: summary, say: x, delaySeconds: 3600}}]"
    runs = ThreadRuns(world, row(trigger=5))
    task = asyncio.create_task(runs.play(document(script)))
    await world.reporter.until(lambda progress: progress.model_calls == 3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [m.type for m in await runs.messages()] == ["human", "ai", "tool", "ai", "tool"]
    assert world.sink.events("summary") == []


async def test_the_list_of_todos_comes_back_after_it(world: RunnerWorld) -> None:
    todos = "toolCalls: [{name: write_todos, args: {todos: [{content: first, status: pending}]}}]"
    script = f"""steps:
- {{{todos}}}
- {{{LS}}}
- {{purpose: summary, say: NOTES}}
- {{expect: {{contains: ['NOTES[\\s\\S]*human: Your list of todos[^\\n]*\\n- .pending. first'], lastRole: human}}, say: done}}
- {{say: done}}
- {{say: done}}
"""  # twice more, since the list is not done
    result = await ThreadRuns(world, row(trigger=5), TodoList()).play(document(script))
    assert (result.outcome.message, result.answer) == ("", "done")


async def test_request_reminder_and_activated_skill_outlive_it(world: RunnerWorld) -> None:
    script = f"""steps:
- {{{LS}}}
- {{{LS}}}
- {{purpose: summary, say: NOTES, expect: {{absent: [current_date, qpdf, fill it]}}}}
- expect: {{contains: ['<current_date>[\\s\\S]*qpdf[\\s\\S]*human: /pdf fill it in\\nhuman: What follows']}}
  say: done
"""
    rows = (DynamicContext(), SkillActivation(), row(trigger=6))
    runs = ThreadRuns(world, *rows, skills=[Skill("pdf", "Use qpdf.")])
    result = await runs.play(document(script, prompt="/pdf fill it in"))
    assert (result.outcome.message, result.answer) == ("", "done")
    kept = await runs.messages()
    assert [m.id for m in kept[:2]] == ["run-uid-1__prompt", "run-uid-1__prompt__user"]
    assert kept[0].additional_kwargs[REMINDER]
    # The next run of the thread finds the day told.
    later = await runs.play(document("steps: [{say: ok, expect: {contains: [NOTES]}}]", run="r2"))
    assert later.outcome.message == ""
    assert sum(bool(m.additional_kwargs.get(REMINDER)) for m in await runs.messages()) == 1


@tool
async def cat(path: str) -> str:
    """Show a file."""
    return f"content of {path}"


async def test_a_skill_that_was_read_stays_word_for_word(world: RunnerWorld) -> None:
    calls = "toolCalls: [{name: cat, args: {path: /mnt/skills/pdf/SKILL.md}}, {name: cat, args: {path: /etc/motd}}]"
    script = f"""steps:
- {{{calls}}}
- {{{LS}}}
- {{purpose: summary, say: NOTES, expect: {{contains: ['content of /etc/motd'], absent: ['content of /mnt/skills']}}}}
- expect:
    contains: ['NOTES\\nai: \\nai: call cat [^\\n]*SKILL.md"}}\\ntool: cat .success.: content of /mnt/skills/pdf/SKILL.md\\nai: \\nai: call ls']
    absent: [motd]
  say: done
"""
    runs = ThreadRuns(world, row(trigger=5), extra_tools=[cat])
    result = await runs.play(document(script))
    assert (result.outcome.message, result.answer) == ("", "done")
    (event,) = world.sink.events("summary")
    assert (event["skills"], event["removed"]) == (["/mnt/skills/pdf/SKILL.md"], 2)


@pytest.mark.parametrize(
    ("message", "text", "error"),
    [
        (AIMessage(" ok "), "ok", None),
        (AIMessage(" \n"), "", "it was blank"),
        (AIMessage([{"type": "thinking", "thinking": "hm"}]), "", "it was blank"),
        (
            AIMessage("x", response_metadata={"stop_reason": "refusal"}),
            "",
            "the provider stopped it: refusal",
        ),
        (
            AIMessage("x", response_metadata={"finish_reason": "SAFETY"}),
            "",
            "the provider stopped it: SAFETY",
        ),
        (
            AIMessage("x", response_metadata={"finish_reason": "length"}),
            "",
            "it was cut by a limit of tokens",
        ),
        (AIMessage("x", response_metadata={"stop_reason": "end_turn"}), "x", None),
    ],
)
def test_what_counts_as_a_summary(message: AIMessage, text: str, error: str | None) -> None:
    assert usable_text(message, 100) == (text, error)


def test_a_summary_that_is_too_long_is_cut() -> None:
    text, error = usable_text(AIMessage("a" * 900 + "b" * 900), 500)
    assert error is None
    assert len(text) <= 500
    assert (text[0], text[-1]) == ("a", "b")
