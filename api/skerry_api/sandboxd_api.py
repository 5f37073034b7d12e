"""The wire contract of sandboxd: paths, headers, request and answer models, error reasons.

Both sides read these models: `skerry_sandboxd` serves them, `skerry_runner.sandbox.remote` and the command
line call them. Field names on the wire are camelCase. File contents travel raw; streams of events are in
`skerry_api.sandboxd_events`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Literal, Self

from pydantic import ConfigDict, Field, StringConstraints, field_validator, model_validator

from skerry_api.base import KubeModel
from skerry_api.sandboxd_events import ExitEvent, WireBytes

__all__ = [
    "DEFAULT_PORT",
    "DEFAULT_SOCKET",
    "HEADER_FILE_SIZE",
    "HEADER_POD_UID",
    "ErrorBody",
    "ExecutionRequest",
    "FileKind",
    "FileList",
    "FileStat",
    "Health",
    "Idle",
    "ProcessRequest",
    "ProcessState",
    "Reason",
    "SignalRequest",
    "StdinResult",
    "User",
    "WriteResult",
]

DEFAULT_PORT: Final = 8090
DEFAULT_SOCKET: Final = "/run/skerry/sandboxd.sock"
HEADER_POD_UID: Final = "Skerry-Pod-UID"
HEADER_FILE_SIZE: Final = "Skerry-File-Size"

DEFAULT_TIMEOUT_SECONDS: Final = 600.0
MAX_TIMEOUT_SECONDS: Final = 86_400.0
DEFAULT_OUTPUT_BYTES: Final = 1024 * 1024
MAX_OUTPUT_BYTES: Final = 4 * 1024 * 1024
MAX_COMMAND_CHARS: Final = 1024 * 1024


class Reason(StrEnum):
    """Every reason an error answer may carry; the HTTP status stands beside it."""

    GRANT_MISSING = "GrantMissing"  # 401
    GRANT_INVALID = "GrantInvalid"  # 401
    GRANT_EXPIRED = "GrantExpired"  # 401: ask for a renewed one
    PROOF_INVALID = "ProofInvalid"  # 401
    PROOF_REPLAYED = "ProofReplayed"  # 401
    BODY_MISMATCH = "BodyMismatch"  # 401
    SANDBOX_MISMATCH = "SandboxMismatch"  # 403: a grant for another sandbox or namespace
    STALE_EPOCH = "StaleEpoch"  # 403: a newer runner has been here
    ROLE_FORBIDDEN = "RoleForbidden"  # 403
    POD_MISMATCH = "PodMismatch"  # 421: the grant names another Pod
    INVALID_REQUEST = "InvalidRequest"  # 400
    NOT_FOUND = "NotFound"  # 404
    METHOD_NOT_ALLOWED = "MethodNotAllowed"  # 405
    KEY_CONFLICT = "KeyConflict"  # 409: the key was used with other content
    OFFSET_CONFLICT = "OffsetConflict"  # 409
    ENDED = "Ended"  # 409: the process has ended
    TOO_LARGE = "TooLarge"  # 413
    BUSY = "Busy"  # 429
    SHUTTING_DOWN = "ShuttingDown"  # 503
    INTERNAL = "Internal"  # 500
    PATH_FORBIDDEN = "PathForbidden"  # 403: outside the roots, or a link that leads there
    READ_ONLY = "ReadOnly"  # 403
    PERMISSION_DENIED = "PermissionDenied"  # 403
    IS_DIRECTORY = "IsDirectory"  # 409
    NOT_DIRECTORY = "NotDirectory"  # 409
    NOT_REGULAR = "NotRegular"  # 409: a socket, fifo or device
    NOT_EMPTY = "NotEmpty"  # 409
    NO_SPACE = "NoSpace"  # 507


class User(StrEnum):
    """Who used the sandbox last. The operator's calls don't count as use."""

    RUNNER = "runner"
    OPERATOR = "operator"
    LOCAL = "local"


class FileKind(StrEnum):
    FILE = "file"
    DIRECTORY = "directory"
    SYMLINK = "symlink"
    OTHER = "other"


Key = Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=r"^[A-Za-z0-9._:~-]+$")]
EnvName = Annotated[str, StringConstraints(max_length=256, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
NoNul = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]


class _Request(KubeModel):
    # A misspelt field in a request must not be dropped in silence.
    model_config = ConfigDict(extra="forbid")


class ErrorBody(KubeModel):
    """Every answer that is not 2xx. `field` is the path of the offending field, where one is to blame."""

    reason: Reason
    message: str
    field: str | None = None


class StdinData(WireBytes):
    """What a command reads from its standard input, whole."""

    @field_validator("data")
    @classmethod
    def _bounded(cls, value: str) -> str:
        if len(value) > MAX_COMMAND_CHARS:
            raise ValueError(f"longer than {MAX_COMMAND_CHARS} characters")
        return value

    @model_validator(mode="after")
    def _decodes(self) -> Self:
        _ = self.raw
        return self


class _Spawn(_Request):
    """What starting anything needs: `command` is run by `bash -c` in `cwd` with `env` over the base environment."""

    key: Key
    command: Annotated[NoNul, Field(min_length=1, max_length=MAX_COMMAND_CHARS)]
    cwd: Annotated[NoNul, Field(min_length=1, max_length=4096)] | None = None
    env: dict[EnvName, Annotated[NoNul, Field(max_length=128 * 1024)]] = Field(
        default_factory=dict, max_length=256
    )


class ExecutionRequest(_Spawn):
    """Run a command to its end. The same key never runs twice; the key with other content is KeyConflict."""

    timeout_seconds: float = Field(default=DEFAULT_TIMEOUT_SECONDS, gt=0, le=MAX_TIMEOUT_SECONDS)
    stdin: StdinData | None = None
    max_output_bytes: int = Field(default=DEFAULT_OUTPUT_BYTES, ge=1024, le=MAX_OUTPUT_BYTES)


class ProcessRequest(_Spawn):
    """Start a long-running process with a standard input that stays open. Same key, same process."""

    buffer_bytes: int = Field(default=DEFAULT_OUTPUT_BYTES, ge=4096, le=MAX_OUTPUT_BYTES)


class SignalRequest(_Request):
    """Send one signal, by name, to the process's group (or its whole tree)."""

    signal: Literal[
        "SIGINT", "SIGTERM", "SIGHUP", "SIGKILL", "SIGUSR1", "SIGUSR2", "SIGQUIT", "SIGCONT", "SIGSTOP"
    ]
    tree: bool = False


class ProcessState(KubeModel):
    key: str
    pid: int
    running: bool
    stdin_offset: int
    exit: ExitEvent | None = None


class StdinResult(KubeModel):
    """`offset` counts the bytes of standard input accepted so far."""

    offset: int


class FileStat(KubeModel):
    """`mtime` in seconds since the Unix epoch, `mode` the permission bits; symlinks in a listing are not followed."""

    path: str
    kind: FileKind
    size: int
    mode: int
    mtime: float


class FileList(KubeModel):
    """`truncated`: there was more than one answer holds."""

    path: str
    entries: tuple[FileStat, ...]
    truncated: bool = False


class WriteResult(KubeModel):
    """`size` of the whole file afterwards, in bytes."""

    path: str
    size: int


class Idle(KubeModel):
    """`idleSeconds` since anybody but the operator used the sandbox; 0 while a command runs."""

    idle_seconds: float
    last_used_by: User | None
    active_executions: int
    processes: int = 0


class Health(KubeModel):
    status: Literal["ok", "stopping"] = "ok"
    pod_uid: str = Field(alias="podUID")
    version: str
