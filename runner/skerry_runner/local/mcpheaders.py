"""Headers of MCP servers on this machine: from Secrets among the files, else from the environment."""

from __future__ import annotations

from collections.abc import Mapping

from skerry_api.agentprofile import AgentProfile
from skerry_api.mcp import headers_env
from skerry_api.problems import Problem

__all__ = ["mcp_headers"]


def mcp_headers(
    profile: AgentProfile, secrets: Mapping[tuple[str, str], str], env: Mapping[str, str]
) -> tuple[dict[str, str], list[Problem]]:
    """Texts by `headers_env` of their servers, as a runner Pod has them; and which are missing."""
    found: dict[str, str] = {}
    problems: list[Problem] = []
    for index, server in enumerate(profile.spec.mcp_servers):
        ref, name = server.headers_secret_ref, headers_env(server.name)
        if ref is None:
            continue
        text = secrets.get((ref.name, ref.key)) or env.get(name)
        if text is None:
            path = f"AgentProfile {profile.metadata.name}: spec.mcpServers[{index}].headersSecretRef"
            words = f"no Secret {ref.name} with key {ref.key} in the files, and {name} is not set"
            problems.append(Problem(path, words))
        else:
            found[name] = text
    return found, problems
