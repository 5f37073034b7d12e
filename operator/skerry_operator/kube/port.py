"""KubePort: everything the operator may do to the API server, raw JSON in and out.

Implementations: `aio.AioPort` (the real one), `skerry_testing.fakekube.FakeKube` (in memory); `retry`, `fence` and
`metered` wrap either. All methods raise the errors of `skerry_operator.errors` and nothing else, besides
CancelledError; a call answers within its timeout or raises Unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from skerry_operator.kube.kinds import Kind, Raw

__all__ = ["OPERATOR_MANAGER", "RUNNER_MANAGER", "KubePort", "Listing", "Sink"]

OPERATOR_MANAGER = "skerry-operator"
"""Field manager of what the operator applies in its own name."""

RUNNER_MANAGER = "skerry-runner"
"""Field manager of the runner, whose last word the operator relays when the runner could not."""


Sink = Callable[[Raw], object]


@dataclass(frozen=True)
class Listing:
    """A consistent list: every object of the selection as of `resource_version`."""

    items: tuple[Raw, ...]
    resource_version: str


class KubePort(Protocol):
    async def get(self, kind: Kind, namespace: str, name: str) -> Raw | None:
        """The object, from the store (not a cache of the server); None if there is none."""
        ...

    async def list(
        self,
        kind: Kind,
        namespace: str | None = None,
        *,
        labels: str = "",
        metadata_only: bool = False,
        sink: Sink | None = None,
    ) -> Listing:
        """All objects of the selection, read in chunks; with `metadata_only` name, namespace, uid and version.

        With a `sink` each whole object is handed to it as it comes (again, if the list had to be begun anew) and
        the answer holds as little: thousands of whole objects are never in memory at once.

        Raises Gone when the list took longer than the server keeps its snapshot: begin anew.
        """
        ...

    async def create(self, kind: Kind, namespace: str, body: Raw) -> Raw:
        """The created object. Raises AlreadyExists; Unknown means that it may exist now."""
        ...

    async def replace(self, kind: Kind, namespace: str, name: str, body: Raw) -> Raw:
        """PUT; raises Conflict if body's resourceVersion is stale."""
        ...

    async def apply(self, kind: Kind, namespace: str, name: str, body: Raw) -> Raw:
        """Server-side apply of the manager's whole set, forced; creates what is missing (not custom resources' status)."""
        ...

    async def apply_status(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        status: Raw,
        *,
        resource_version: str,
        manager: str = OPERATOR_MANAGER,
    ) -> Raw:
        """Server-side apply of the manager's whole status, forced. Raises Conflict for a stale `resource_version`, NotFound."""
        ...

    async def delete(
        self, kind: Kind, namespace: str, name: str, *, uid: str, grace_seconds: int | None = None
    ) -> Raw | None:
        """Delete the object of that UID (dependents in the background); None if it is gone, else as it ends.

        Raises Conflict when another object has the name now.
        """
        ...
