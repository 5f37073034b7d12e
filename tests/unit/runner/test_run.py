"""A run from its document to its report: outcomes, order of reports, journal."""

from __future__ import annotations

import asyncio

import pytest

from skerry_api.phases import Acquire, OutcomeClass, StopReason
from skerry_runner.ports import CancelReason, SandboxLost
from skerry_runner.sandbox.errors import SandboxFenced, SandboxReplaced, SandboxUnavailable
from skerry_runner.sandbox.types import ExecResult
from skerry_testing.fakesandbox import Command
from skerry_testing.runnerworld import RunnerWorld, document

BASH = 'steps:\n- toolCalls: [{name: bash, args: {command: "echo hi"}}]\n- expect: {contains: ["echo hi"], lastRole: tool}\n  say: it said hi\n'


async def test_an_answer_without_tools_needs_no_sandbox(world: RunnerWorld) -> None:
    result = await world.run(document("steps: [{say: hello, usage: {input: 7, output: 3}}]"))
    assert (result.outcome.class_, result.stop_reason) == (OutcomeClass.SUCCEEDED, StopReason.END_TURN)
    assert (result.answer, result.sandbox_id, world.provider.acquired) == ("hello", None, 0)
    assert (result.usage.input, result.usage.output, result.usage.total) == (7, 3, 10)
    assert (result.progress.turn, result.progress.model_calls, result.progress.tool_calls) == (1, 1, 0)
    assert world.reporter.calls == ["started", "ended"]
    assert [e["type"] for e in world.sink.events()] == [
        "run.start",
        "model.request",
        "model.response",
        "title",
        "run.end",
    ]
    assert world.sink.synced == 5
    assert world.reporter.counters[-1] == (result.progress, result.usage)


async def test_the_first_sandbox_tool_acquires_and_the_end_releases(world: RunnerWorld) -> None:
    result = await world.run(document(BASH))
    assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "it said hi")
    assert result.sandbox_id == "sbx-1"
    assert world.reporter.calls == ["started", "first_tool_call 1", "sandbox_acquired sbx-1", "ended"]
    assert (world.provider.acquired, world.provider.released) == (1, 1)
    assert [e["type"] for e in world.sink.events()] == [
        "run.start", "model.request", "model.response", "tool.call", "audit.command", "sandbox.acquired",
        "tool.result", "model.request", "model.response", "title", "sandbox.released", "run.end",
    ]  # fmt: skip
    (result_event,) = world.sink.events("tool.result")
    assert (result_event["status"], result_event["content"]) == ("success", "echo hi")


async def test_eager_acquires_before_the_first_call_of_the_model(world: RunnerWorld) -> None:
    result = await world.run(document(acquire=Acquire.EAGER))
    assert (result.sandbox_id, world.provider.acquired, world.provider.released) == ("sbx-1", 1, 1)
    types = [e["type"] for e in world.sink.events()]
    assert types.index("sandbox.acquired") < types.index("model.request")


async def test_parallel_calls_share_one_acquisition_and_one_first_report(world: RunnerWorld) -> None:
    calls = ", ".join(f'{{name: bash, args: {{command: "echo {n}"}}}}' for n in range(4))
    result = await world.run(document(f"steps: [{{toolCalls: [{calls}]}}, {{say: ok}}]"))
    assert (result.outcome.class_, result.progress.tool_calls) == (OutcomeClass.SUCCEEDED, 4)
    assert world.provider.acquired == 1
    assert len([c for c in world.reporter.calls if c.startswith("first_tool_call")]) == 1
    keys = [command.key for command in world.provider.sandbox.commands]
    assert len(set(keys)) == 4
    assert {tuple(key.split("~")[::3]) for key in keys} == {("run-uid-1", "1")}


async def test_no_tool_runs_before_its_first_report_was_accepted(world: RunnerWorld) -> None:
    reported, accepted = asyncio.Event(), asyncio.Event()

    async def first_tool_call(*_: object) -> None:
        reported.set()
        await accepted.wait()

    world.reporter.first_tool_call = first_tool_call  # type: ignore[method-assign,assignment]  # this test's own reporter
    task = asyncio.create_task(world.run(document(BASH)))
    await reported.wait()
    await world.journal.flush()
    assert world.sink.events("tool.call") == []
    assert world.provider.sandbox.commands == []
    accepted.set()
    assert (await task).outcome.class_ is OutcomeClass.SUCCEEDED


@pytest.mark.parametrize(
    ("reason", "class_"),
    [
        (CancelReason.CANCELLED, OutcomeClass.CANCELLED),
        (CancelReason.INTERRUPTED, OutcomeClass.INTERRUPTED),
        (CancelReason.FENCED, OutcomeClass.INTERRUPTED),
    ],
)
async def test_a_request_to_stop_ends_the_running_command(
    world: RunnerWorld, reason: CancelReason, class_: OutcomeClass
) -> None:
    running = asyncio.Event()

    async def hang(_: Command) -> ExecResult:
        running.set()
        await asyncio.Event().wait()
        raise AssertionError

    world.provider.sandbox.shell = hang
    task = asyncio.create_task(world.run(document(BASH)))
    await running.wait()
    world.cancellation.request(reason)
    world.cancellation.request(CancelReason.CANCELLED)
    result = await task
    assert (result.outcome.class_, result.outcome.reason) == (class_, reason.value)
    assert (result.sandbox_id, result.progress.tool_calls, result.answer) == ("sbx-1", 1, None)
    assert world.provider.sandbox.killed == ["echo hi"]
    assert world.provider.released == 1
    assert [e["type"] for e in world.sink.events()][-3:] == ["sandbox.released", "script.unused", "run.end"]


async def test_a_request_to_stop_interrupts_the_model(world: RunnerWorld) -> None:
    task = asyncio.create_task(world.run(document("steps: [{say: late, delaySeconds: 3600}]")))
    await world.reporter.until(lambda progress: progress.model_calls == 1)
    world.cancellation.request(CancelReason.CANCELLED)
    assert (await task).outcome.class_ is OutcomeClass.CANCELLED


async def test_cancelling_the_caller_leaves_no_agent_behind(world: RunnerWorld) -> None:
    task = asyncio.create_task(world.run(document("steps: [{say: late, delaySeconds: 3600}]")))
    await world.reporter.until(lambda progress: progress.model_calls == 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert {t.get_name() for t in asyncio.all_tasks()} & {"agent", "stop"} == set()


async def test_turns_are_capped_and_the_last_words_are_the_answer(world: RunnerWorld) -> None:
    step = "{say: working, toolCalls: [{name: ls}]}"
    result = await world.run(document(f"steps: [{step}, {step}, {step}]", max_turns=2))
    assert (result.outcome.class_, result.stop_reason) == (OutcomeClass.SUCCEEDED, StopReason.TURN_CAPPED)
    assert (result.progress.turn, result.progress.model_calls, result.progress.tool_calls) == (2, 2, 2)
    assert result.answer == "working"
    assert world.provider.released == 1


async def test_an_empty_answer_is_asked_for_once_more(world: RunnerWorld) -> None:
    script = "steps:\n- say: ''\n- expect: {contains: ['human: Your last reply was empty'], lastRole: human}\n  say: here\n"
    result = await world.run(document(script))
    assert (result.outcome.class_, result.answer, result.progress.turn) == (OutcomeClass.SUCCEEDED, "here", 2)


@pytest.mark.parametrize("say", ["''", '"  \\n"', "[{type: text, text: ''}]"])
async def test_two_empty_answers_fail_the_run(world: RunnerWorld, say: str) -> None:
    result = await world.run(document(f"steps: [{{say: {say}}}, {{say: {say}, thinking: hm}}]"))
    assert (result.outcome.class_, result.outcome.reason) == (OutcomeClass.APP_ERROR, "EmptyAnswer")
    assert (result.answer, result.stop_reason, result.progress.model_calls) == (None, None, 2)


async def test_invalid_calls_alone_are_no_answer(world: RunnerWorld) -> None:
    script = (
        'steps:\n- invalidToolCalls: [{name: write_file, args: \'{"path": "/a\', id: c1}]\n'
        "- expect: {contains: ['tool: write_file .error.']}\n  say: sorry\n"
    )
    result = await world.run(document(script))
    assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "sorry")
    assert world.sink.events("tool.call") == []


async def test_a_lost_sandbox_ends_the_run(world: RunnerWorld) -> None:
    world.provider.failures = [SandboxLost("replaced too often")]
    result = await world.run(document(BASH))
    assert (result.outcome.class_, result.outcome.message) == (
        OutcomeClass.SANDBOX_LOST,
        "replaced too often",
    )
    assert (result.sandbox_id, world.provider.released) == (None, 0)


@pytest.mark.parametrize(
    ("error", "class_", "reason"),
    [
        (SandboxLost("no more"), OutcomeClass.SANDBOX_LOST, "SandboxLost"),
        (SandboxFenced("StaleEpoch", "newer"), OutcomeClass.INTERRUPTED, "Fenced"),
    ],
)
async def test_what_ends_the_run_in_the_midst_of_a_call(
    world: RunnerWorld, error: Exception, class_: OutcomeClass, reason: str
) -> None:
    async def fail(_: Command) -> ExecResult:
        raise error

    world.provider.sandbox.shell = fail
    result = await world.run(document(BASH))
    assert (result.outcome.class_, result.outcome.reason) == (class_, reason)
    assert (result.sandbox_id, world.provider.released) == ("sbx-1", 1)


async def test_a_sandbox_that_can_not_be_had_now_is_a_result(world: RunnerWorld) -> None:
    world.provider.failures = [SandboxUnavailable("no answer")]
    script = (
        "steps:\n- toolCalls: [{name: bash, args: {command: a}}]\n"
        "- expect: {contains: ['tool: bash .error.: Error: no answer']}\n  toolCalls: [{name: bash, args: {command: b}}]\n"
        "- expect: {contains: ['tool: bash .success.: b']}\n  say: ok\n"
    )
    result = await world.run(document(script))
    assert (result.outcome.class_, result.outcome.message) == (OutcomeClass.SUCCEEDED, "")
    assert [e["status"] for e in world.sink.events("tool.result")] == ["error", "success"]


async def test_a_replaced_sandbox_is_told_to_the_model_and_the_journal(world: RunnerWorld) -> None:
    async def replaced(_: Command) -> ExecResult:
        raise SandboxReplaced(may_have_run=True)

    world.provider.sandbox.shell = replaced
    script = BASH.replace('echo hi"], ', 'sandbox was replaced.*lost.*may have run in part"], ')
    result = await world.run(document(script))
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED, result.outcome
    (event,) = world.sink.events("sandbox.replaced")
    assert event["sandboxId"] == "sbx-1"
    assert len(world.sink.events("sandbox.acquired")) == 1


async def test_a_release_that_fails_does_not_change_the_outcome(world: RunnerWorld) -> None:
    async def broken() -> None:
        raise SandboxUnavailable("gone")

    world.provider.release = broken  # type: ignore[method-assign]  # this test's own provider
    result = await world.run(document(BASH))
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED
    assert len(world.sink.events("sandbox.released")) == 1


async def test_the_answer_is_cut_to_eight_kib_on_a_character(world: RunnerWorld) -> None:
    result = await world.run(document(f"steps: [{{say: {'€' * 4000}}}]"))
    assert result.answer == "€" * 2730
    (event,) = world.sink.events("model.response")
    assert event["chars"] == len(event["text"]) == 4000


async def test_the_answer_s_message_is_named_as_its_line_in_the_journal(world: RunnerWorld) -> None:
    result = await world.run(document("steps: [{say: so, toolCalls: [{name: ls}]}, {say: ok}]"))
    (line,) = [event for event in world.sink.events("model.response") if event["id"] == result.answer_id]
    assert (line["text"], result.answer) == ("ok", "ok")
