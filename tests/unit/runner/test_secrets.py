"""A secret that is planted wherever a text can come from is seen nowhere that texts go to."""

from __future__ import annotations

import json

from skerry_api.phases import OutcomeClass
from skerry_runner.paths import OUTPUTS
from skerry_testing.runnerworld import RunnerWorld, document

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
