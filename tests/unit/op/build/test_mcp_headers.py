"""Headers of MCP servers reach the runner's container from their Secrets, under a name per server."""

from __future__ import annotations

from skerry_operator.build.runner_pod import build_runner_pod
from skerry_testing.plans import SETTINGS, a_profile, a_run

WEB = {"transport": "StreamableHTTP", "url": "https://x/mcp"}


def test_each_server_with_headers_has_a_variable() -> None:
    servers = [
        {"name": "plain", **WEB},
        {"name": "my-wiki", **WEB, "headersSecretRef": {"name": "s", "key": "k"}},
    ]
    pod = build_runner_pod(a_run(), a_profile(mcpServers=servers), 1, "{}", SETTINGS)
    env = [each for each in pod["spec"]["containers"][0]["env"] if each["name"].startswith("SKERRY_MCP")]
    source = {"secretKeyRef": {"name": "s", "key": "k"}}
    assert env == [{"name": "SKERRY_MCP_HEADERS_MY_WIKI", "valueFrom": source}]


def test_the_guardrail_s_endpoint_has_one_too() -> None:
    http = {"url": "http://opa:8181/v1/data/x", "headersSecretRef": {"name": "s", "key": "k"}}
    pod = build_runner_pod(a_run(), a_profile(guardrail={"http": http}), 1, "{}", SETTINGS)
    env = [each for each in pod["spec"]["containers"][0]["env"] if each["name"].startswith("SKERRY_GUARD")]
    source = {"secretKeyRef": {"name": "s", "key": "k"}}
    assert env == [{"name": "SKERRY_GUARDRAIL_HEADERS", "valueFrom": source}]
