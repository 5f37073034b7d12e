"""The one AgentProfile of a command's files."""

from __future__ import annotations

from collections.abc import Sequence

from skerry_api.agentprofile import AgentProfile
from skerry_api.defaults import apply_defaults
from skerry_api.problems import Problem
from skerry_api.strict import check
from skerry_runner.local.yamldoc import Document, FileProblem

__all__ = ["one_profile"]


def one_profile(file: str, documents: Sequence[Document]) -> AgentProfile | list[FileProblem]:
    """The profile, or what is wrong with it or with their number; rules about a cluster alone are not looked at."""
    found = [d for d in documents if isinstance(d.raw, dict) and d.raw.get("kind") == AgentProfile.KIND]
    if len(found) != 1:
        words = "there must be one AgentProfile in the file" + (f", not {len(found)}" if found else "")
        return [FileProblem(file, None, "", Problem("", words))]
    (document,) = found
    problems = [document.at(problem) for problem in check(document.raw, local=True)]
    return problems or AgentProfile.read(apply_defaults(document.raw))
