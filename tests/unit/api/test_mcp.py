"""MCP servers of a profile: fields that belong together, and the rules that say so."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from skerry_api.mcp import McpServer, headers_env
from skerry_api.rules import RULES

HTTP = {"name": "web", "transport": "StreamableHTTP", "url": "https://example.org/mcp"}
STDIO = {"name": "box", "transport": "Stdio", "command": "serve"}
REF = {"name": "s", "key": "k"}


@pytest.mark.parametrize(
    ("server", "broken"),
    [
        (HTTP, []),
        (HTTP | {"headersSecretRef": REF, "args": [], "env": []}, []),
        (STDIO | {"args": ["-v"], "env": [{"name": "A"}]}, []),
        ({"name": "web", "transport": "StreamableHTTP"}, ["mcp-http"]),
        ({"name": "box", "transport": "Stdio"}, ["mcp-stdio"]),
        (STDIO | {"url": "https://example.org"}, ["mcp-http-only"]),
        (STDIO | {"headersSecretRef": REF}, ["mcp-http-only"]),
        (HTTP | {"command": "x"}, ["mcp-stdio-only"]),
        (HTTP | {"args": ["x"]}, ["mcp-stdio-only"]),
        (HTTP | {"env": [{"name": "A"}]}, ["mcp-stdio-only"]),
        ({"name": "x", "transport": "Stdio", "url": "https://x"}, ["mcp-stdio", "mcp-http-only"]),
    ],
)
def test_rules(server: dict[str, Any], broken: list[str]) -> None:
    names = ["mcp-http", "mcp-stdio", "mcp-http-only", "mcp-stdio-only"]
    assert [name for name in names if not RULES[name].holds(server, None)] == broken


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "Web"), ("name", "a_b"), ("name", ""), ("name", "x" * 33), ("url", "ftp://x"), ("url", "https:///x"),
        ("transport", "SSE"), ("command", "a\0b"), ("command", ""), ("args", ["\0"]), ("callTimeoutSeconds", 0),
        ("connectTimeoutSeconds", 601), ("env", [{"name": "1A"}]),
    ],
)  # fmt: skip
def test_bad_values_name_their_field(field: str, value: object) -> None:
    with pytest.raises(ValidationError) as caught:
        McpServer.model_validate(HTTP | {field: value})
    assert {str(error["loc"][0]) for error in caught.value.errors()} == {field}


def test_no_two_servers_share_a_variable() -> None:
    names = ["a", "a-b", "ab", "a--b", "0"]
    assert len({headers_env(name) for name in names}) == len(names)
