"""Headers of MCP servers and of the guardrail's endpoint on this machine: from Secrets among the files, else the environment."""

from __future__ import annotations

from collections.abc import Mapping

from skerry_api.agentprofile import AgentProfile
from skerry_api.common import SecretKeyRef
from skerry_api.guardrail import GUARDRAIL_HEADERS_ENV
from skerry_api.mcp import headers_env
from skerry_api.problems import Problem

__all__ = ["request_headers"]


def request_headers(
    profile: AgentProfile, secrets: Mapping[tuple[str, str], str], env: Mapping[str, str]
) -> tuple[dict[str, str], list[Problem]]:
    """Texts by their variables, as a runner Pod has them; and which are missing."""
    found: dict[str, str] = {}
    problems: list[Problem] = []
    for ref, name, where in _wanted(profile):
        text = secrets.get((ref.name, ref.key)) or env.get(name)
        if text is None:
            path = f"AgentProfile {profile.metadata.name}: {where}"
            words = f"no Secret {ref.name} with key {ref.key} in the files, and {name} is not set"
            problems.append(Problem(path, words))
        else:
            found[name] = text
    return found, problems


def _wanted(profile: AgentProfile) -> list[tuple[SecretKeyRef, str, str]]:
    """The references, their variables, and where they stand."""
    servers = [
        (server.headers_secret_ref, headers_env(server.name), f"spec.mcpServers[{index}].headersSecretRef")
        for index, server in enumerate(profile.spec.mcp_servers)
    ]
    guardrail = profile.spec.guardrail
    policy = (
        guardrail.http.headers_secret_ref if guardrail is not None and guardrail.http is not None else None
    )
    both = [*servers, (policy, GUARDRAIL_HEADERS_ENV, "spec.guardrail.http.headersSecretRef")]
    return [(ref, name, where) for ref, name, where in both if ref is not None]
