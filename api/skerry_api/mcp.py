"""MCP servers of a profile: where tools come from that are not Skerry's own."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from skerry_api.base import KubeModel, list_map, validations
from skerry_api.common import DNS_LABEL, EnvVar, SecretKeyRef

__all__ = ["HEADERS_ENV_PREFIX", "McpServer", "McpServers", "McpTransport", "headers_env", "needs_sandbox"]

HEADERS_ENV_PREFIX = "SKERRY_MCP_HEADERS_"


class McpTransport(StrEnum):
    """How a server is spoken to."""

    STREAMABLE_HTTP = "StreamableHTTP"
    """Over HTTP, from the runner."""
    STDIO = "Stdio"
    """A process in the run's sandbox, over its standard input and output."""


_ServerName = Annotated[str, StringConstraints(min_length=1, max_length=32, pattern=DNS_LABEL)]
_Argument = Annotated[str, StringConstraints(max_length=4096, pattern=r"^[^\x00]*$")]


class McpServer(KubeModel):
    """One server. Its tools keep their names; one that is taken gets the server's name and `_` before it."""

    name: _ServerName = Field(description="Name of the server within the profile.")
    transport: McpTransport = Field(
        description="StreamableHTTP: called by the runner. Stdio: a process in the sandbox."
    )
    description: str = Field(
        default="",
        max_length=512,
        description="What the server is for, in a sentence: the agent reads it to know when to search.",
    )
    url: str | None = Field(
        default=None,
        max_length=2048,
        pattern=r"^https?://[^\s/?#]+",
        description="Endpoint (StreamableHTTP).",
    )
    headers_secret_ref: SecretKeyRef | None = Field(
        default=None,
        description="Secret key that holds request headers, one `Name: value` a line (StreamableHTTP). "
        "They reach the runner Pod alone.",
    )
    command: str | None = Field(
        default=None,
        min_length=1,
        max_length=4096,
        pattern=r"^[^\x00]*$",
        description="Program to run in the sandbox (Stdio).",
    )
    args: tuple[_Argument, ...] = Field(default=(), max_length=64, description="Its arguments (Stdio).")
    env: tuple[EnvVar, ...] = Field(
        default=(),
        max_length=64,
        json_schema_extra=list_map("name"),
        description="Its environment beside the sandbox's own; never a Secret (Stdio).",
    )
    deferred: bool = Field(
        default=True,
        description="Whether its tools stay hidden until the agent finds them with `tool_search`. A Stdio server "
        "that is not deferred needs its sandbox from the start.",
    )
    connect_timeout_seconds: int = Field(
        default=30,
        ge=1,
        le=600,
        description="How long to wait for the server and its list of tools, in seconds.",
    )
    call_timeout_seconds: int = Field(
        default=120, ge=1, le=3600, description="How long a call of one of its tools may take, in seconds."
    )

    model_config = KubeModel.model_config | {
        "json_schema_extra": validations("mcp-http", "mcp-stdio", "mcp-http-only", "mcp-stdio-only")
    }


McpServers = Annotated[tuple[McpServer, ...], Field(max_length=32, json_schema_extra=list_map("name"))]


def headers_env(server: str) -> str:
    """Environment variable of the runner container that holds a server's headers; names hold no `_`, so no two meet."""
    return HEADERS_ENV_PREFIX + server.upper().replace("-", "_")


def needs_sandbox(servers: Iterable[McpServer]) -> bool:
    """Whether the run's sandbox is acquired at its start, whatever the profile says: the agent has tools in it from then on."""
    return any(server.transport is McpTransport.STDIO and not server.deferred for server in servers)
