"""Request headers that a run holds secret: of MCP servers and of the guardrail's endpoint."""

from __future__ import annotations

from collections.abc import Mapping

from skerry_api.document import RunDocument
from skerry_api.guardrail import GUARDRAIL_HEADERS_ENV
from skerry_runner.mcp.headers import parse_headers
from skerry_runner.mcpsetup import header_secrets, secrets_in
from skerry_runner.outcome import InvalidDocument

__all__ = ["guardrail_headers", "header_values"]

_WHERE = "spec.guardrail.http.headersSecretRef"


def guardrail_headers(environ: Mapping[str, str]) -> dict[str, str]:
    """The headers for the endpoint, from the variables that the runner's Pod gets.

    Raises:
        InvalidDocument: the Secret's text holds no headers.
    """
    try:
        return parse_headers(environ.get(GUARDRAIL_HEADERS_ENV, ""))
    except ValueError as error:
        raise InvalidDocument("InvalidHeaders", _WHERE, str(error)) from None


def header_values(document: RunDocument, environ: Mapping[str, str]) -> tuple[str, ...]:
    """What must be blanked out of all texts; of headers that make no sense all of them."""
    try:
        policy = header_secrets({"": guardrail_headers(environ)})
    except InvalidDocument:
        policy = (environ[GUARDRAIL_HEADERS_ENV],)
    return (*secrets_in(document.mcp_servers, environ), *policy)
