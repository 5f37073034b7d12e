"""From a document's MCP servers to an invocation's tool servers. Imports the SDK only where there are any."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from skerry_api.mcp import McpServer, headers_env
from skerry_runner.mcp.headers import headers_of
from skerry_runner.outcome import InvalidDocument
from skerry_runner.ports import JournalPort
from skerry_runner.session import SandboxSession
from skerry_runner.toolservers import OpenServers, ToolServers, no_servers

__all__ = ["header_secrets", "mcp_servers", "secrets_in"]


def header_secrets(headers: Mapping[str, Mapping[str, str]]) -> tuple[str, ...]:
    """What must be blanked out of all texts: values, and what follows a scheme such as Bearer."""
    values = [value for each in headers.values() for value in each.values()]
    return tuple(dict.fromkeys((*values, *(value.rpartition(" ")[2] for value in values))))


def secrets_in(servers: Sequence[McpServer], environ: Mapping[str, str]) -> tuple[str, ...]:
    """What must be blanked out of all texts of a run with these servers; of headers that make no sense all of them."""
    try:
        return header_secrets(headers_of(servers, environ))
    except InvalidDocument:
        return tuple(environ[name] for name in map(headers_env, (s.name for s in servers)) if name in environ)


def mcp_servers(
    servers: Sequence[McpServer],
    *,
    environ: Mapping[str, str],
    journal: JournalPort,
    reserved: Iterable[str] = (),
) -> OpenServers:
    """`environ` holds the headers (`headers_env`), `reserved` names of further tools that the agent has.

    Raises:
        InvalidDocument: a Secret's text holds no headers.
    """
    if not servers:
        return no_servers
    headers, taken = headers_of(servers, environ), frozenset(reserved)

    def opened(session: SandboxSession) -> ToolServers:
        from skerry_runner.mcp.servers import McpToolServers

        return McpToolServers(servers, session=session, journal=journal, headers=headers, reserved=taken)

    return opened
