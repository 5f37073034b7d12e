"""How a remote sandbox is reached just now: the operator may change it under a living run."""

from dataclasses import dataclass, field
from typing import Protocol

__all__ = ["Access", "AccessProvider", "FixedAccess"]


@dataclass(frozen=True)
class Access:
    """From the run's `status.sandbox`: sandboxd's base URL, the grant, and the Pod both are for."""

    endpoint: str
    grant: str = field(repr=False)
    pod_uid: str


class AccessProvider(Protocol):
    """Reads the run's status; in tests, whatever the test says."""

    async def current(self) -> Access:
        """The access as last seen. Raises SandboxUnavailable if there is none."""
        ...

    async def renewed(self, stale: Access) -> Access:
        """Wait for an access that differs from `stale`. Raises SandboxUnavailable after its own patience."""
        ...


class FixedAccess:
    """An access that never changes: for the command line and for tests."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def current(self) -> Access:
        return self._access

    async def renewed(self, stale: Access) -> Access:  # noqa: ARG002  # nothing newer will come
        return self._access
