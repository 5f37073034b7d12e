"""Which kinds of subagent a run has: the built-in ones, and those of its profile. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from skerry_api.document import RunDocument
from skerry_api.subagents import LEADS_OWN_TOOLS, MAX_TOKENS, SubagentType
from skerry_api.toolname import ToolName

__all__ = ["BASH", "GENERAL_PURPOSE", "SubagentKind", "kinds_for"]

GENERAL_PURPOSE = "general-purpose"
BASH = "bash"
BUILT_IN_SECONDS = 900

_REPORT = (
    "You were given one piece of work by another agent. Whoever gave it sees nothing but your last message, so put all "
    "of what you found or did into it: the answer first, then the facts it rests on, the full paths of files that you "
    "made or changed, and what could not be done and why. Nobody can answer questions: where something is unclear, "
    "choose what is most sensible and say that you did. Do what was asked and no more. You share the sandbox with the "
    "other agent and maybe with further ones, so leave alone what your work does not need."
)
_GENERAL_PROMPT = "You are a subagent that carries out work of several steps on its own.\n\n" + _REPORT
_BASH_PROMPT = (
    "You are a subagent that works on the command line. Run what is needed one step after the other, look at each "
    "result before the next, and report outputs in short rather than whole.\n\n" + _REPORT
)


@dataclass(frozen=True)
class SubagentKind:
    """`tools` are those of the catalogue that it really gets."""

    name: str
    description: str
    system_prompt: str
    tools: tuple[ToolName, ...]
    mcp_tools: bool
    max_turns: int
    max_tokens: int
    timeout_seconds: int


def kinds_for(document: RunDocument) -> tuple[SubagentKind, ...]:
    """All kinds of a run, the built-in ones first; one of the profile takes the place of a built-in of its name.

    `bash` is there only where the lead may run commands.
    """
    allowed = tuple(tool for tool in document.tools if tool not in LEADS_OWN_TOOLS)
    kinds = {
        GENERAL_PURPOSE: SubagentKind(
            name=GENERAL_PURPOSE,
            description="Work of several steps that needs its own train of thought: research, analysis, changes in "
            "several files.",
            system_prompt=_GENERAL_PROMPT,
            tools=allowed,
            mcp_tools=True,
            max_turns=100,
            max_tokens=MAX_TOKENS,
            timeout_seconds=BUILT_IN_SECONDS,
        )
    }
    if ToolName.BASH in allowed:
        on_the_line = (
            ToolName.BASH,
            ToolName.LS,
            ToolName.READ_FILE,
            ToolName.WRITE_FILE,
            ToolName.STR_REPLACE,
        )
        kinds[BASH] = SubagentKind(
            name=BASH,
            description="A series of commands whose output would fill your own context: builds, tests, git, data.",
            system_prompt=_BASH_PROMPT,
            tools=tuple(tool for tool in allowed if tool in on_the_line),
            mcp_tools=False,
            max_turns=60,
            max_tokens=MAX_TOKENS,
            timeout_seconds=BUILT_IN_SECONDS,
        )
    for given in document.subagents.types:
        kinds[given.name] = _of(given, allowed)
    return tuple(kinds.values())


def _of(given: SubagentType, allowed: tuple[ToolName, ...]) -> SubagentKind:
    wanted = frozenset(allowed if given.tools is None else given.tools)
    return SubagentKind(
        name=given.name,
        description=given.description,
        system_prompt=given.system_prompt or _GENERAL_PROMPT,
        tools=tuple(tool for tool in allowed if tool in wanted),
        mcp_tools=given.mcp_tools,
        max_turns=given.max_turns,
        max_tokens=given.max_tokens,
        timeout_seconds=given.timeout_seconds,
    )
