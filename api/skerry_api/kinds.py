"""The kinds of the API, by name."""

from __future__ import annotations

from skerry_api.agentprofile import AgentProfile
from skerry_api.agentrun import AgentRun
from skerry_api.base import KubeObject
from skerry_api.sandbox import Sandbox
from skerry_api.sandboxclass import SandboxClass

__all__ = ["KINDS"]

KINDS: dict[str, type[KubeObject]] = {
    model.KIND: model for model in (AgentRun, AgentProfile, Sandbox, SandboxClass)
}
