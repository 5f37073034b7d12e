"""Everything this package raises on purpose.

DevClusterError
├── UsageError        the request cannot be carried out as given (exit 2)
├── SlotError         no addresses left, or the instance's own are taken
├── CommandError      a program that was run failed
├── BuildError        binaries could not be built
├── StartError        a component ended or did not get ready in time
└── CleanupError      something on the ledger would not go away
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "BuildError",
    "CleanupError",
    "CommandError",
    "DevClusterError",
    "SlotError",
    "StartError",
    "UsageError",
]


class DevClusterError(Exception):
    """Printed as one message; `exit_code` becomes the command's."""

    exit_code = 1


class UsageError(DevClusterError):
    exit_code = 2


class SlotError(DevClusterError):
    pass


class CommandError(DevClusterError):
    """A program failed; carries its argv, exit code and the end of its output."""

    def __init__(self, argv: Sequence[str], code: int, output: str) -> None:
        tail = "\n".join(output.strip().splitlines()[-15:])
        super().__init__(f"{' '.join(argv)}: exit {code}{': ' + tail if tail else ''}")
        self.argv = tuple(argv)
        self.code = code
        self.output = output


class BuildError(DevClusterError):
    pass


class StartError(DevClusterError):
    pass


class CleanupError(DevClusterError):
    pass
