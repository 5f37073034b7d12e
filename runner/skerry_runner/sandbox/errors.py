"""Everything that can go wrong with a sandbox, as one tree:

SandboxError
├── SandboxUnavailable    no answer in time: the sandbox may live, and what was asked may have run
├── SandboxLost           there is none any more, and none will come: the run can't go on with one
├── SandboxReplaced       another Pod stands in its place
├── SandboxRefused        it answered, and will not do this for us
│   └── SandboxFenced     a newer runner has taken over: this one must stop
├── SandboxProtocolError  an answer that makes no sense
├── InvalidCall           the request itself is wrong (`field` says where)
├── CommandError
│   ├── CommandTimeout    no end was heard of in time, with the output so far
│   ├── CommandLost       it was started, and how it ended will never be known
│   ├── ProcessEnded      a long-running one takes no more input
│   └── CommandConflict   its key was used for something else
└── PathError             about one path, with the path
    ├── PathNotFound, PathForbidden, PathPermission, ReadOnlyPath
    ├── IsADirectory, NotADirectory, NotARegularFile, DirectoryNotEmpty
    └── FileTooLarge, NoSpace
"""

from typing import Final

from skerry_runner.sandbox.types import Chunk

__all__ = [
    "CommandConflict",
    "CommandError",
    "CommandLost",
    "CommandTimeout",
    "DirectoryNotEmpty",
    "FileTooLarge",
    "InvalidCall",
    "IsADirectory",
    "NoSpace",
    "NotADirectory",
    "NotARegularFile",
    "PathError",
    "PathForbidden",
    "PathNotFound",
    "PathPermission",
    "ProcessEnded",
    "ReadOnlyPath",
    "SandboxError",
    "SandboxFenced",
    "SandboxLost",
    "SandboxProtocolError",
    "SandboxRefused",
    "SandboxReplaced",
    "SandboxUnavailable",
]


class SandboxError(Exception):
    """Base of all. The message is fit for the model to read."""


class SandboxUnavailable(SandboxError):
    """No answer in time. Unknown is not dead: nothing is concluded about the sandbox or the call."""


class SandboxLost(SandboxError):
    """The thread's sandbox is gone and will not be replaced. Raised by providers."""


class SandboxReplaced(SandboxError):
    """The sandbox's Pod is another one than before. `may_have_run`: this very call may have reached the old one."""

    def __init__(self, *, may_have_run: bool) -> None:
        part = (
            "the command may have run in part and was not sent again"
            if may_have_run
            else "the command was not run"
        )
        super().__init__(
            f"The sandbox was replaced: files that are not on a persistent volume are lost, and {part}. "
            "Check what is there before you go on."
        )
        self.may_have_run: Final = may_have_run


class SandboxRefused(SandboxError):
    """`reason` is the sandbox's own (`skerry_api.sandboxd_api.Reason`) or the provider's."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason: Final = reason


class SandboxFenced(SandboxRefused):
    """A newer epoch, or a newer run of the thread, has spoken to the sandbox."""


class SandboxProtocolError(SandboxError):
    """The answer is not what sandboxd says. It comes from beside untrusted code, so this is expected at times."""


class InvalidCall(SandboxError):
    """`field` is the path of the wrong field, where known."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field: Final = field


class CommandError(SandboxError):
    """About one command."""


class CommandTimeout(CommandError):
    """Neither end nor kill was confirmed in time; `chunks` is the output so far."""

    def __init__(self, message: str, chunks: tuple[Chunk, ...]) -> None:
        super().__init__(message)
        self.chunks: Final = chunks


class CommandLost(CommandError):
    """Started once, end unknown, will not be run again."""


class ProcessEnded(CommandError):
    """A long-running process has ended, or has closed its standard input."""


class CommandConflict(CommandError):
    """The idempotency key was used with other content."""


class PathError(SandboxError):
    """About `path`, as the caller wrote it."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path: Final = path


class PathNotFound(PathError): ...


class PathForbidden(PathError):
    """Outside the sandbox's directories, or a link that leads outside."""


class PathPermission(PathError): ...


class ReadOnlyPath(PathError): ...


class IsADirectory(PathError): ...


class NotADirectory(PathError): ...


class NotARegularFile(PathError): ...


class DirectoryNotEmpty(PathError): ...


class FileTooLarge(PathError): ...


class NoSpace(PathError): ...
