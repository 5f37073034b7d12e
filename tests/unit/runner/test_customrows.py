"""Middlewares of the user: made from path and settings, or refused with the field."""

from __future__ import annotations

import pytest

from skerry_api.phases import OutcomeClass
from skerry_api.pipeline import CustomRow
from skerry_runner.customrows import argument, build_custom, tool_names
from skerry_runner.invocation import Invocation
from skerry_runner.mcp.names import assign
from skerry_runner.mcp.servers import McpToolServers
from skerry_runner.outcome import InvalidDocument
from skerry_testing.customrows import Polite
from skerry_testing.runnerworld import RunnerWorld, document

MODULE = "skerry_testing.customrows"


def row(path: str, **settings: str) -> CustomRow:
    return CustomRow(path=path, settings=settings)


def test_settings_are_arguments_of_the_constructor() -> None:
    made = build_custom(row(f"{MODULE}:Polite", word="ho", times="3"), 0)
    assert isinstance(made, Polite)
    assert made.word == "hohoho"


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("0.5", 0.5), ("true", True), ("null", None), ('["a"]', ["a"]), ('"3"', "3"), ("so", "so"), ("", "")],
)  # fmt: skip
def test_values_are_json_where_they_can_be(text: str, value: object) -> None:
    assert argument(text) == value


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (row("no.such.module:Row"), r"custom\[2\]\.path: no\.such\.module:Row can't be imported: ModuleNotFoundError"),
        (row(f"{MODULE}:Missing"), r"custom\[2\]\.path: .* can't be imported: AttributeError"),
        (row(f"{MODULE}:NoMiddleware"), r"custom\[2\]\.path: .*:NoMiddleware is no AgentMiddleware"),
        (row(f"{MODULE}:HumanMessage"), r"custom\[2\]\.path: .*:HumanMessage is no AgentMiddleware"),
        (row(f"{MODULE}:Polite"), r"custom\[2\]: .*:Polite can't be made: TypeError: .*word"),
        (row(f"{MODULE}:Picky"), r"custom\[2\]: .*:Picky can't be made: ValueError: not today"),
        (row(f"{MODULE}:SyncOnly"), r"custom\[2\]: .* needs its asynchronous form awrap_model_call"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_with_its_field(row: CustomRow, words: str) -> None:
    with pytest.raises(InvalidDocument, match=words):
        build_custom(row, 2)


async def test_a_run_with_a_user_s_row(world: RunnerWorld) -> None:
    custom = [{"path": f"{MODULE}:Polite", "settings": {"word": "pretty please"}}]
    script = "steps: [{expect: {contains: ['human: pretty please$'], lastRole: human}, say: done}]"
    result = await world.run(document(script, pipeline={"custom": custom}))
    assert result.answer == "done", result.outcome


@pytest.mark.parametrize(
    ("custom", "class_", "reason", "words"),
    [
        ([{"path": f"{MODULE}:Picky"}], OutcomeClass.INVALID_SPEC, "InvalidMiddleware", "spec.pipeline.custom[0]: "),
        ([{"path": "no.such:Row"}], OutcomeClass.INVALID_SPEC, "InvalidMiddleware", "spec.pipeline.custom[0].path: "),
        ([{"path": "skerry_runner.middleware.threaddata:ThreadData"}], OutcomeClass.APP_ERROR, "PipelineError", "two rows are named ThreadData"),
    ],
)  # fmt: skip
async def test_a_run_whose_rows_cannot_be_had_says_so(
    world: RunnerWorld, custom: list[dict[str, str]], class_: OutcomeClass, reason: str, words: str
) -> None:
    result = await world.run(document(pipeline={"custom": custom}))
    assert (result.outcome.class_, result.outcome.reason) == (class_, reason)
    assert words in result.outcome.message


def test_the_tools_that_rows_bring() -> None:
    assert tool_names(()) == frozenset()
    assert tool_names([row(f"{MODULE}:Polite", word="x"), row(f"{MODULE}:Handy")]) == {"measure"}


async def test_no_server_takes_the_name_of_a_row_s_tool(world: RunnerWorld) -> None:
    what = document(
        pipeline={"custom": [{"path": f"{MODULE}:Handy"}]},
        mcp_servers=[{"name": "wiki", "transport": "StreamableHTTP", "url": "http://192.0.2.1/mcp"}],
    )
    invocation = Invocation(what, world.ports(), api_key=None, checkpointer=None)
    servers = invocation._made_servers()(invocation.session)
    assert isinstance(servers, McpToolServers)
    assert assign([("wiki", "measure"), ("wiki", "find")], {}, servers._reserved) == {
        ("wiki", "measure"): "wiki_measure", ("wiki", "find"): "find",
    }  # fmt: skip
