"""Headers of MCP servers: whence they come, and what is said when they are missing."""

from __future__ import annotations

import pytest

from skerry_api.agentprofile import AgentProfile
from skerry_api.mcp import headers_env
from skerry_api.problems import Problem
from skerry_runner.local.requestheaders import request_headers
from skerry_testing.manifests import a_profile

REF = {"name": "s", "key": "k"}
PROFILE = AgentProfile.read(
    a_profile(
        name="p",
        mcpServers=[
            {"name": "plain", "transport": "StreamableHTTP", "url": "https://x"},
            {"name": "my-wiki", "transport": "StreamableHTTP", "url": "https://x", "headersSecretRef": REF},
        ],
    )
)
VARIABLE = "SKERRY_MCP_HEADERS_MY_WIKI"


@pytest.mark.parametrize(
    ("secrets", "env", "text"),
    [
        ({("s", "k"): "A: secret"}, {}, "A: secret"),
        ({}, {VARIABLE: "A: env"}, "A: env"),
        ({("s", "k"): "A: secret"}, {VARIABLE: "A: env"}, "A: secret"),
        ({("s", "other"): "no"}, {VARIABLE: "A: env"}, "A: env"),
    ],
)
def test_a_secret_of_the_files_comes_before_the_environment(
    secrets: dict[tuple[str, str], str], env: dict[str, str], text: str
) -> None:
    assert headers_env("my-wiki") == VARIABLE
    assert request_headers(PROFILE, secrets, env) == ({VARIABLE: text}, [])


def test_what_is_missing_is_said_with_both_places() -> None:
    path = "AgentProfile p: spec.mcpServers[1].headersSecretRef"
    words = f"no Secret s with key k in the files, and {VARIABLE} is not set"
    assert request_headers(PROFILE, {}, {}) == ({}, [Problem(path, words)])


def test_the_guardrail_s_endpoint_has_headers_too() -> None:
    http = {"url": "http://opa:8181/v1/data/x", "headersSecretRef": REF}
    profile = AgentProfile.read(a_profile(name="p", guardrail={"http": http}))
    variable = "SKERRY_GUARDRAIL_HEADERS"
    assert request_headers(profile, {("s", "k"): "A: b"}, {}) == ({variable: "A: b"}, [])
    words = f"no Secret s with key k in the files, and {variable} is not set"
    path = "AgentProfile p: spec.guardrail.http.headersSecretRef"
    assert request_headers(profile, {}, {}) == ({}, [Problem(path, words)])
