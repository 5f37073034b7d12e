"""What rows and tools may reach: ids, handles and settings of one run. Frozen, and never part of graph state."""

from __future__ import annotations

from dataclasses import dataclass, field

from skerry_api.phases import Acquire
from skerry_runner.artifacts import ArtifactKeeper, HashedOnly
from skerry_runner.budget import Budget
from skerry_runner.deferred import DeferredTools, NoDeferredTools
from skerry_runner.files import GivenFile
from skerry_runner.firstcall import FirstToolCall
from skerry_runner.guardrail.types import GuardrailProvider, NoEndpoint
from skerry_runner.llm.calls import ModelCalls
from skerry_runner.memory import MemoryKeeper, MemorySource, NoMemory
from skerry_runner.models.build import BuiltModel
from skerry_runner.models.internal import ModelGate, ungated
from skerry_runner.outcome import Redactor
from skerry_runner.ports import Clock, JournalPort
from skerry_runner.session import SandboxSession
from skerry_runner.skills import Skill
from skerry_runner.subagents.port import Subagents
from skerry_runner.usage import Tally

__all__ = ["RunContext", "ToolLimits"]


@dataclass(frozen=True)
class ToolLimits:
    """Bounds of what tools take and give: seconds, characters of result, bytes of file."""

    bash_seconds: int = 600
    bash_seconds_max: int = 3600
    bash_chars: int = 20_000
    read_chars: int = 50_000
    ls_chars: int = 20_000
    write_bytes: int = 80 * 1024
    edit_bytes: int = 8 * 1024 * 1024
    image_bytes: int = 20 * 1024 * 1024
    glob_results: int = 200
    glob_results_max: int = 1000
    grep_results: int = 100
    grep_results_max: int = 500
    search_chars: int = 100_000


@dataclass(frozen=True)
class RunContext:
    """`run` is the run's UID, `agent` who acts: `lead` or a subagent's type."""

    run: str
    thread: str
    user: str
    max_turns: int
    acquire: Acquire
    sandbox: SandboxSession
    first_tool_call: FirstToolCall
    tally: Tally
    journal: JournalPort
    clock: Clock
    calls: ModelCalls
    """Every call of a model goes through it."""
    budget: Budget = field(default_factory=Budget)
    """Of the whole run, whoever spends it: `tally.whole` says what was used."""
    max_tokens: int | None = None
    """Of a subagent: what its piece of work may use of them."""
    agent: str = "lead"
    execution: str = ""
    """Of a subagent: which piece of work; tells its calls apart from those of all others."""
    model: BuiltModel | None = None
    """For internal calls."""
    title_model: BuiltModel | None = None
    """Another one, for titles."""
    gate: ModelGate = ungated
    memory: MemorySource = field(default_factory=NoMemory)
    keeper: MemoryKeeper | None = None
    """Takes what is to be remembered; None while memory is off."""
    skills: tuple[Skill, ...] = ()
    files: tuple[GivenFile, ...] = ()
    """Given with this run."""
    artifacts: ArtifactKeeper = field(default_factory=HashedOnly)
    """Where copies of presented files go."""
    deferred: DeferredTools = field(default_factory=NoDeferredTools)
    """Tools that `tool_search` finds."""
    subagents: Subagents | None = None
    """Whom work may be handed to; a subagent has none."""
    policy: GuardrailProvider = field(default_factory=NoEndpoint)
    """The guardrail's endpoint; whoever made it closes it."""
    tools: ToolLimits = field(default_factory=ToolLimits)
    redact: Redactor = field(default_factory=Redactor, repr=False)
    """For texts that are cut or serialised before they leave: by then secrets in them can't be told any more."""
    resumes: frozenset[str] = frozenset()
    """Ids of questions whose call runs again, since the answer has come: it was recorded and counted before."""
