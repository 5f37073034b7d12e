"""The run document: run and profile resolved into what one epoch's runner needs. No secrets, no files.

The operator writes it as JSON into a Pod annotation, anew for each epoch; the downward API mounts it.
"""

from __future__ import annotations

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from skerry_api.agentprofile import ModelPrice, ToolName
from skerry_api.base import KubeModel
from skerry_api.guardrail import Guardrail
from skerry_api.mcp import McpServer
from skerry_api.persistence import DEFAULT_KEEP_RUNS, PersistenceType
from skerry_api.phases import Acquire
from skerry_api.pipeline import PipelineSettings
from skerry_api.privacy import Privacy
from skerry_api.subagents import Subagents

__all__ = [
    "API_KEY_ENV", "DOCUMENT_MAX", "DOCUMENT_PATH", "DSN_ENV", "DocumentModel", "DocumentRun", "DocumentSandbox",
    "DocumentSkill", "RunDocument",
]  # fmt: skip

DOCUMENT_MAX = 192 * 1024
"""Largest document, in bytes of JSON."""
DOCUMENT_PATH = "/etc/skerry/run/document.json"
API_KEY_ENV = "SKERRY_MODEL_API_KEY"
"""Environment variable of the runner container that holds the model's key."""
DSN_ENV = "SKERRY_POSTGRES_DSN"
"""Environment variable of the runner container that holds the database's connection string."""


class _Part(KubeModel):
    # A runner that does not know a field must not guess: operator and runner are released together.
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


class DocumentRun(_Part):
    namespace: str
    name: str
    uid: str
    generation: int
    epoch: int = Field(ge=1)


class DocumentModel(_Part):
    """`source` says where a bad script was found, as a field path."""

    name: str
    base_url: str | None = None
    parameters: dict[str, str] = Field(default_factory=dict)
    vision: bool = False
    price: ModelPrice | None = None
    script: str | None = None
    script_source: str | None = None


class DocumentSandbox(_Part):
    sandbox_id: str
    class_name: str
    acquire: Acquire
    allow_local_bash: bool = False


class DocumentSkill(_Part):
    """Its texts come another way: they may be larger than a document."""

    name: str
    enabled: bool = True


class RunDocument(_Part):
    run: DocumentRun
    user_id: str
    thread_id: str
    profile: str
    prompt: str
    system_prompt: str = ""
    model: DocumentModel
    sandbox: DocumentSandbox
    persistence: PersistenceType = PersistenceType.EPHEMERAL
    keep_runs: int = Field(default=DEFAULT_KEEP_RUNS, ge=1)
    """Of a thread, where its state is a directory."""
    privacy: Privacy = Privacy.FULL
    resume: bool = False
    """An earlier epoch has called tools or asked: what it did is not done again, so its state must be there."""
    tools: tuple[ToolName, ...]
    mcp_servers: tuple[McpServer, ...] = ()
    guardrail: Guardrail | None = None
    subagents: Subagents = Subagents()
    skills: tuple[DocumentSkill, ...] = ()
    pipeline: PipelineSettings = PipelineSettings()
    max_turns: int = Field(ge=1)
    max_tokens: int | None = Field(default=None, ge=1)
    max_cost_micro_usd: int | None = Field(default=None, ge=1)
