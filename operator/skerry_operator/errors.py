"""The operator's exceptions: one tree, converted from foreign ones once, at the edge.

OperatorError
├── ConfigError           the configuration file; `path` names the field
└── KubeError             an answer of the API server; names the call
    ├── NotFound          404 to a write (reads give None)
    ├── Conflict          409: a stale resourceVersion, or a precondition that does not hold
    ├── AlreadyExists     409: the name is taken
    ├── Forbidden         403: authorization, admission or quota
    ├── Invalid           400, 405, 413, 415, 422, and what the schema lacks: the same request can never succeed
    ├── Gone              410: a list's continue token is too old
    ├── Unknown           5xx, 429, timeouts, lost connections: the request may or may not have been carried out
    └── Fenced            refused by ourselves: this process does not lead (any more)
"""

from __future__ import annotations

__all__ = [
    "AlreadyExists", "ConfigError", "Conflict", "Fenced", "Forbidden", "Gone", "Invalid", "KubeError", "NotFound", "OperatorError", "Unknown",
]  # fmt: skip


class OperatorError(Exception):
    """Whatever the operator raises on purpose."""


class ConfigError(OperatorError):
    """A bad configuration; `path` is the field's, e.g. `lease.renewSeconds`, or empty for the file as a whole."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path


class KubeError(OperatorError):
    """An API call that did not succeed. `message` is the server's, `where` the call, e.g. `get Pod ns/name`."""

    def __init__(self, message: str, *, where: str = "", status: int = 0) -> None:
        super().__init__(f"{where}: {message}" if where else message)
        self.message = message
        self.where = where
        self.status = status


class NotFound(KubeError):
    pass


class Conflict(KubeError):
    pass


class AlreadyExists(KubeError):
    pass


class Forbidden(KubeError):
    pass


class Invalid(KubeError):
    pass


class Gone(KubeError):
    pass


class Unknown(KubeError):
    """`retry_after` is the server's wish in seconds, if it named one."""

    def __init__(
        self, message: str, *, where: str = "", status: int = 0, retry_after: float | None = None
    ) -> None:
        super().__init__(message, where=where, status=status)
        self.retry_after = retry_after


class Fenced(KubeError):
    pass
