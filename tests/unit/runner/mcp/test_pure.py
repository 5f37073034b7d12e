"""Names, headers, command lines, lines and contents, as tables."""

from __future__ import annotations

import pytest
from mcp_types import CallToolResult, ImageContent, TextContent, Tool

from skerry_api.mcp import McpServer, McpTransport, headers_env
from skerry_runner.mcp.content import Binary, parts_of, render
from skerry_runner.mcp.errors import McpCallFailed, cause_of, reason_of
from skerry_runner.mcp.headers import headers_of, parse_headers
from skerry_runner.mcp.names import NAME_MAX, RESERVED, assign, spelled
from skerry_runner.mcp.stdio import Lines, command_of
from skerry_runner.mcp.tool import digest, schema_of
from skerry_runner.outcome import InvalidDocument
from skerry_runner.sandbox.errors import SandboxProtocolError


def http(name: str) -> McpServer:
    return McpServer(name=name, transport=McpTransport.STREAMABLE_HTTP, url="https://example.org/mcp")


def test_names_keep_and_a_clash_gets_the_servers_name() -> None:
    tools = [("one", "search"), ("one", "bash"), ("two", "search"), ("two", "only")]
    assert assign(tools, {}) == {
        ("one", "search"): "search",
        ("one", "bash"): "one_bash",
        ("two", "search"): "two_search",
        ("two", "only"): "only",
    }


def test_a_prefixed_name_that_is_taken_too_gets_a_number() -> None:
    tools = [("a", "x"), ("c", "b_x"), ("b", "x")]
    assert assign(tools, {}) == {("a", "x"): "x", ("c", "b_x"): "b_x", ("b", "x"): "b_x_2"}


def test_names_once_given_stay_when_a_server_comes_late() -> None:
    first = assign([("two", "search")], {})
    both = assign([("one", "search"), ("two", "search")], first)
    assert both == {("two", "search"): "search", ("one", "search"): "one_search"}


@pytest.mark.parametrize("name", ["bash", "task", "tool_search", "ask_clarification", "write_todos"])
def test_our_own_names_are_never_a_strangers(name: str) -> None:
    assert name in RESERVED
    assert assign([("srv", name)], {}) == {("srv", name): f"srv_{name}"}


@pytest.mark.parametrize("name", ["get_weather", "a", "A-b_9", "x" * NAME_MAX])
def test_names_that_every_provider_takes_stay(name: str) -> None:
    assert spelled(name) == name


@pytest.mark.parametrize("name", ["a.b", "a/b", "a b", "", "x" * 65, "naïve", "x" * 2000, "a\udcff"])
def test_other_names_are_spelled_anew_and_stay_apart(name: str) -> None:
    made = spelled(name)
    assert 0 < len(made) <= NAME_MAX
    assert made.replace("-", "_").replace("_", "a").isalnum()
    assert made.isascii()
    assert spelled(name) == made != spelled(name + "?")


def test_names_that_look_alike_when_spelled_stay_apart() -> None:
    names = assign([("s", "a.b"), ("s", "a/b"), ("s", "a_b")], {})
    assert len(set(names.values())) == 3
    assert names["s", "a_b"] == "a_b"


def test_headers_are_lines() -> None:
    assert parse_headers("Authorization: Bearer a:b \n\n X-Key:1\r\n") == {
        "Authorization": "Bearer a:b",
        "X-Key": "1",
    }
    assert parse_headers("") == {}


@pytest.mark.parametrize(
    "text", ["secret", "A B: secret", ": secret", "A: secret\tx", "A: secrét", "A: secret\n\x00"]
)
def test_what_is_no_header_is_told_without_what_it_holds(text: str) -> None:
    with pytest.raises(ValueError, match=r"line [12] is not a header") as caught:
        parse_headers(text)
    assert "secr" not in str(caught.value)


def test_headers_come_from_the_servers_own_variable() -> None:
    servers = [http("one"), http("a-b")]
    environ = {headers_env("a-b"): "X: y", "OTHER": "z"}
    assert headers_env("a-b") == "SKERRY_MCP_HEADERS_A_B"
    assert headers_of(servers, environ) == {"a-b": {"X": "y"}}
    with pytest.raises(InvalidDocument, match=r"spec\.mcpServers\[1\]\.headersSecretRef: line 1"):
        headers_of(servers, {headers_env("a-b"): "nonsense"})


def test_a_command_line_is_quoted_for_the_shell() -> None:
    server = McpServer(
        name="s", transport=McpTransport.STDIO, command="my server", args=("$(rm -rf /)", "a'b", "")
    )
    assert command_of(server) == """exec 'my server' '$(rm -rf /)' 'a'"'"'b' ''"""


def test_lines_come_whole_however_they_are_cut() -> None:
    text = b'{"a":1}\n\n  \n{"b":"\xc3\xa9"}\r\n{"c"'
    for size in (1, 2, 3, 100):
        lines = Lines()
        found = [line for at in range(0, len(text), size) for line in lines.feed(text[at : at + size])]
        assert found == [b'{"a":1}', b'{"b":"\xc3\xa9"}\r']


def test_a_line_without_an_end_is_cut_off() -> None:
    lines = Lines(limit=10)
    assert lines.feed(b"x" * 10) == []
    with pytest.raises(SandboxProtocolError, match="more than 10 bytes"):
        lines.feed(b"x")


def test_structured_content_counts_only_alone() -> None:
    both = CallToolResult(content=[TextContent(text="said")], structured_content={"a": 1})
    assert parts_of(both) == ["said"]
    assert parts_of(CallToolResult(content=[], structured_content={"é": 1})) == ['{"é": 1}']
    assert render(parts_of(CallToolResult(content=[])), lambda _: "") == "(no output)"


def test_bytes_become_a_line_that_says_where_they_are() -> None:
    picture = Binary("image/png", b"123")
    assert picture.path.startswith("/mnt/user-data/outputs/mcp/")
    assert picture.path.endswith(".png")
    assert Binary("weird/../type", b"123").path.endswith(".bin")
    assert (
        render(["a", picture], lambda each: f"kept at {each.path}")
        == f"a\n[image/png, 3 bytes, kept at {picture.path}]"
    )
    (broken,) = parts_of(CallToolResult(content=[ImageContent(data="no base64!", mime_type="image/png")]))
    assert broken == "[image/png: the server sent data that is no base64]"


def test_schemas_are_objects_with_properties() -> None:
    bare = Tool(name="x", input_schema={"$schema": "http://json-schema.org/draft-07/schema#"})
    assert schema_of(bare) == {"type": "object", "properties": {}}
    one = Tool(name="x", description="d", input_schema={"type": "object", "properties": {"a": {}, "b": {}}})
    same = Tool(name="x", description="d", input_schema={"properties": {"b": {}, "a": {}}, "type": "object"})
    other = Tool(name="x", description="e", input_schema=one.input_schema)
    digests = {
        digest("s", "x", one),
        digest("s", "x", same),
        digest("t", "x", one),
        digest("s", "y", one),
        digest("s", "x", other),
    }
    assert digest("s", "x", one) == digest("s", "x", same)
    assert len(digests) == 4


def test_the_reason_is_the_innermost_error() -> None:
    inner = McpCallFailed("a\nb")
    assert cause_of(ExceptionGroup("x", [ExceptionGroup("y", [inner])])) is inner
    assert reason_of(ExceptionGroup("x", [inner])) == "McpCallFailed: a b"
    assert reason_of(ValueError()) == "ValueError"
