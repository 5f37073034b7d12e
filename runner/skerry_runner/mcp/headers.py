"""Request headers from a Secret's text: one `Name: value` a line. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from skerry_api.mcp import McpServer, headers_env
from skerry_runner.outcome import InvalidDocument

__all__ = ["headers_of", "parse_headers"]

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def parse_headers(text: str) -> dict[str, str]:
    """Names and values; blank lines don't count.

    Raises:
        ValueError: a line is no header; says which, and nothing of what it holds.
    """
    headers: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        name, colon, value = line.partition(":")
        name, value = name.strip(), value.strip()
        if not colon or not _NAME.fullmatch(name) or not value.isascii() or not value.isprintable():
            raise ValueError(f"line {number} is not a header of the form `Name: value`")
        headers[name] = value
    return headers


def headers_of(servers: Sequence[McpServer], environ: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Headers by server, from the variables that the runner's Pod gets.

    Raises:
        InvalidDocument: a Secret's text can't be used.
    """
    found = {}
    for index, server in enumerate(servers):
        if (text := environ.get(headers_env(server.name))) is None:
            continue
        try:
            found[server.name] = parse_headers(text)
        except ValueError as error:
            path = f"spec.mcpServers[{index}].headersSecretRef"
            raise InvalidDocument("InvalidHeaders", path, str(error)) from None
    return found
