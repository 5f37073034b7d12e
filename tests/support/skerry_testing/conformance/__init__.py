"""What every Sandbox must do, as one suite: subclass it, give it a `harness` fixture, and it runs.

The harness says where the workspace is for the agent and on this machine; everything else goes through
the Protocol. Register the modules for assertion rewriting before importing them (see the tests of the
Local and the remote sandbox).
"""

from skerry_testing.conformance.commands import CommandConformance
from skerry_testing.conformance.files import FileConformance
from skerry_testing.conformance.harness import Harness, alive
from skerry_testing.conformance.processes import ProcessConformance
from skerry_testing.conformance.search import SearchConformance
from skerry_testing.conformance.trees import TreeConformance

__all__ = [
    "CommandConformance", "FileConformance", "Harness", "ProcessConformance", "SandboxConformance", "SearchConformance", "TreeConformance",
    "alive",
]  # fmt: skip


class SandboxConformance(CommandConformance, TreeConformance, FileConformance, ProcessConformance, SearchConformance):
    """All of it."""
