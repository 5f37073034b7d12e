"""Scripts: what is accepted, and that every problem is told with line and path."""

from __future__ import annotations

import pytest

from skerry_api.phases import OutcomeClass
from skerry_runner.models.scripted.parse import parse_script
from skerry_runner.models.scripted.schema import Provider, Purpose
from skerry_runner.outcome import InvalidDocument

WHOLE = r"""
strict: true
steps:
- expect:
    contains: ["hello.*world", "^system: "]
    absent: ["secret"]
    tools: {include: [bash], exclude: [hidden_tool]}
    lastRole: tool
  say: "text"
  thinking: "hm"
  toolCalls: [{name: bash, args: {command: "echo hi"}, id: c1}]
  invalidToolCalls: [{name: write_file, args: "{\"path\": \"/a", id: c2, error: "cut off"}]
  usage: {input: 120, output: 8}
  finishReason: tool_calls
  provider: anthropic
  metadata: {a: [1, 2.5, null]}
  delaySeconds: 0.2
- say: [{type: text, text: hi}, plain]
- error: {status: 429, code: rate_limit, message: "slow", retryAfterSeconds: 1}
- error: {kind: reset}
- {agent: general-purpose, task: "^Find", say: found}
- {purpose: title, say: A title}
"""


def test_the_whole_format_is_read() -> None:
    parsed = parse_script(WHOLE, source="s")
    first, blocks, limited, reset, agent, title = parsed.script.steps
    assert parsed.script.strict
    assert first.expect.contains == ("hello.*world", "^system: ")
    assert (first.expect.tools.include, first.expect.tools.exclude) == (("bash",), ("hidden_tool",))
    assert (first.provider, first.delay_seconds, first.finish_reason) == (
        Provider.ANTHROPIC,
        0.2,
        "tool_calls",
    )
    assert first.tool_calls[0].args == {"command": "echo hi"}
    assert first.invalid_tool_calls[0].error == "cut off"
    assert blocks.say == [{"type": "text", "text": "hi"}, "plain"]
    assert limited.error is not None
    assert reset.error is not None
    assert (limited.error.status, limited.error.retry_after_seconds, reset.error.kind) == (429, 1, "reset")
    assert (agent.agent, agent.task, title.purpose) == ("general-purpose", "^Find", Purpose.TITLE)
    assert parsed.lines == (4, 18, 19, 20, 21, 22)


def test_no_steps_at_all_is_a_script() -> None:
    assert parse_script("steps: []", source="s").script.steps == ()


def test_another_text_has_another_digest() -> None:
    one, two = (parse_script(text, source="s").digest for text in ("steps: []", "steps:  []"))
    assert one != two


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1: empty; `steps` is required"),
        ("[]", "line 1: must be a mapping"),
        ("{}", "line 1: steps: is required"),
        ("steps: 3", "line 1: steps: must be a list"),
        ("steps: [", "line 1: expected the node content, but found '<stream end>'"),
        ("a: 1\nsteps: []", "line 1: a: unknown field"),
        ("steps:\n- say: hi\n  tolCalls: []", "line 3: steps[0].tolCalls: unknown field"),
        ("steps:\n- toolCalls:\n  - args: {a: 1}", "line 3: steps[0].toolCalls[0].name: is required"),
        ("steps:\n- expect: {contains: ['(']}", "line 2: steps[0].expect.contains[0]: not a regular expression"),
        ("steps:\n- expect: {lastRole: robot}", "line 2: steps[0].expect.lastRole: must be 'system'"),
        ("steps:\n- error: {status: 200}", "line 2: steps[0].error.status: must be at least 400"),
        ("steps:\n- error: {}", "line 2: steps[0].error: exactly one of status and kind"),
        ("steps:\n- error: {status: 500, kind: reset}", "line 2: steps[0].error: exactly one of status and kind"),
        ("steps:\n- say: a\n  error: {status: 500}", "line 2: steps[0]: an error step has no answer: remove say"),
        ("steps:\n- {agent: a, purpose: title}", "line 2: steps[0]: agent and purpose exclude each other"),
        ("steps:\n- {task: a}", "line 2: steps[0]: task narrows agent"),
        ("steps:\n- provider: acme", "line 2: steps[0].provider: must be 'openai'"),
        ("steps:\n- usage: {input: -1, output: 0}", "line 2: steps[0].usage.input: must be at least 0"),
        ("steps:\n- delaySeconds: -1", "line 2: steps[0].delaySeconds: must be at least 0"),
        ("steps:\n- toolCalls:\n  - {name: a, args: {d: 2020-01-01}}", "line 3: steps[0].toolCalls[0].args: not a JSON"),
        ("steps:\n- toolCalls:\n  - {name: a, args: {d: .nan}}", "line 3: steps[0].toolCalls[0].args: not a JSON"),
        ("steps:\n- say: a\n  say: b", "line 3: say: stands here twice"),
        ("a: &a [*a]", "line 1: nested too deeply, or an alias refers to itself"),
        ("steps:\n- say: !!python/name:os.system a", "line 2: could not determine a constructor for the tag"),
        ("steps: []\n---\nsteps: []", "line 2: but found another document"),
        ("steps: [\x07]", "line 1: not YAML"),
        ("? [a]\n: b", "line 1: "),
    ],
)  # fmt: skip
def test_a_bad_script_names_line_and_path(text: str, problem: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        parse_script(text, source="spec.model.script")
    outcome = caught.value.outcome
    assert (outcome.class_, outcome.reason) == (OutcomeClass.INVALID_SPEC, "InvalidScript")
    assert outcome.message.startswith(f"spec.model.script: {problem}")


def test_all_problems_are_told_at_once_in_order_of_lines() -> None:
    text = "steps:\n" + "".join(f"- {{say: {n}}}\n" for n in range(12))
    with pytest.raises(InvalidDocument) as caught:
        parse_script(text, source="s")
    message = caught.value.outcome.message
    assert message.index("line 2:") < message.index("line 3:")
    assert message.endswith("; and 14 more")


def test_a_bomb_of_aliases_is_refused_before_it_grows() -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(InvalidDocument, match="too large once its aliases are expanded"):
        parse_script("\n".join(rows), source="s")


def test_anchors_and_merge_keys_work() -> None:
    parsed = parse_script("steps:\n- &one {say: hi}\n- <<: *one\n  delaySeconds: 1\n- *one", source="s")
    assert [step.say for step in parsed.script.steps] == ["hi", "hi", "hi"]


def test_a_script_nested_too_deeply_names_its_source() -> None:
    with pytest.raises(InvalidDocument, match=r"spec\.model\.script: line 1: nested too deeply"):
        parse_script("[" * 10_000, source="spec.model.script")
