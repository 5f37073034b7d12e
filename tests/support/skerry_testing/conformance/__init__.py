"""What every Sandbox must do, as one suite: subclass it, give it a `harness` fixture, and it runs.

The harness says where the workspace is for the agent and on this machine; everything else goes through
the Protocol.
"""

import pytest

# Before anything imports them, whoever comes first.
pytest.register_assert_rewrite(
    *(
        f"{__name__}.{module}"
        for module in ("commands", "files", "installing", "processes", "search", "trees")
    )
)

from skerry_testing.conformance.commands import CommandConformance  # noqa: E402  # after the registration
from skerry_testing.conformance.files import FileConformance  # noqa: E402  # after the registration
from skerry_testing.conformance.harness import Harness, alive  # noqa: E402  # after the registration
from skerry_testing.conformance.installing import InstallConformance  # noqa: E402  # after the registration
from skerry_testing.conformance.processes import ProcessConformance  # noqa: E402  # after the registration
from skerry_testing.conformance.search import SearchConformance  # noqa: E402  # after the registration
from skerry_testing.conformance.trees import TreeConformance  # noqa: E402  # after the registration

__all__ = [
    "CommandConformance", "FileConformance", "Harness", "InstallConformance", "ProcessConformance", "SandboxConformance", "SearchConformance", "TreeConformance",
    "alive",
]  # fmt: skip


class SandboxConformance(
    CommandConformance,
    TreeConformance,
    FileConformance,
    InstallConformance,
    ProcessConformance,
    SearchConformance,
):
    """All of it."""
