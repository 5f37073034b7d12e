"""What becomes of a run whose script and whose run disagree."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skerry_api.phases import OutcomeClass
from skerry_runner.run import run_document
from skerry_testing.runnerworld import SOURCE, RunnerWorld, document


@pytest.mark.parametrize(
    ("script", "class_", "reason", "message"),
    [
        ("steps: [{say: 5}]", "InvalidSpec", "InvalidScript", f"{SOURCE}: line 1: steps[0].say: must be text"),
        (None, "InvalidSpec", "InvalidScript", f"{SOURCE}: the model `scripted` needs a script"),
        ("steps: []", "AppError", "ScriptMismatch", f"{SOURCE}: no step is left"),
        ("steps: [{expect: {contains: [never]}}]", "AppError", "ScriptMismatch", f"{SOURCE}: line 1: steps[0]: expect"),
        ("steps: [{toolCalls: [{name: ls}]}]", "AppError", "ScriptMismatch",
         f"{SOURCE}: no step is left, but the model is called again (after a tool message)"),
        ("{strict: true, steps: [{say: a}, {say: b}]}", "AppError", "ScriptMismatch",
         f"{SOURCE}: line 1: steps[1]: never played (1 steps are left over)"),
        (f"steps: [{', '.join(['{error: {status: 429, message: slow}}'] * 3)}]", "ModelError", "RateLimited",
         "RateLimitError: slow (attempts: 3)"),
        (f"steps: [{', '.join(['{error: {kind: reset}}'] * 3)}]", "ModelError", "ConnectionFailed",
         "ResetFault: the connection was reset"),
    ],
)  # fmt: skip
async def test_it_never_looks_like_a_success(
    world: RunnerWorld, script: str | None, class_: str, reason: str, message: str
) -> None:
    result = await world.run(document(script))
    assert (result.outcome.class_, result.outcome.reason) == (class_, reason)
    assert result.outcome.message.startswith(message)
    assert (result.answer, result.stop_reason) == (None, None)
    (end,) = world.sink.events("run.end")
    assert end["outcome"]["class"] == class_
    assert world.sink.events()[-1] == end
    assert world.reporter.calls[-1] == "ended"


async def test_the_endpoint_of_a_scripted_error_is_scripted(world: RunnerWorld) -> None:
    result = await world.run(document("steps: [{error: {status: 401}}]"))
    assert result.outcome.endpoint == "scripted"


async def test_steps_left_over_are_told(world: RunnerWorld) -> None:
    result = await world.run(
        document("steps:\n- say: a\n- say: b\n- {agent: x, say: c}\n- {purpose: memory, say: d}")
    )
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED
    (unused,) = world.sink.events("script.unused")
    assert unused["steps"] == [
        {"step": 1, "line": 3},
        {"step": 2, "line": 4, "agent": "x"},
        {"step": 3, "line": 5, "purpose": "memory"},
    ]


async def test_a_strict_script_does_not_hide_another_failure(world: RunnerWorld) -> None:
    result = await world.run(
        document("{strict: true, steps: [{error: {status: 401, message: down}}, {say: b}]}")
    )
    assert (result.outcome.class_, result.outcome.message) == (
        OutcomeClass.MODEL_ERROR,
        "AuthenticationError: down",
    )


async def test_a_fault_of_ours_is_an_app_error_with_its_class(world: RunnerWorld) -> None:
    def clock() -> None:
        raise LookupError("no time")

    result = await run_document(document(), replace(world.ports(), clock=clock))  # type: ignore[arg-type]  # broken on purpose
    assert (result.outcome.class_, result.outcome.reason, result.outcome.message) == (
        "AppError",
        "LookupError",
        "no time",
    )
