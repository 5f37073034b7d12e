"""The outside world of a reconcile, in one value: what the loop may read, write and tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from skerry_operator.cache.store import Store
from skerry_operator.clock import Clock
from skerry_operator.events import EventRecorder
from skerry_operator.kube.port import KubePort
from skerry_operator.metrics import Metrics
from skerry_operator.reconcile.idle import IdleProbe
from skerry_operator.reconcile.keyring import GrantMinter
from skerry_operator.settings import PlanSettings

__all__ = ["Effects"]


@dataclass(frozen=True)
class Effects:
    port: KubePort
    """Fenced: refuses writes while this process does not lead."""
    store: Store
    clock: Clock
    minter: GrantMinter
    probe: IdleProbe
    events: EventRecorder
    metrics: Metrics
    settings: Callable[[], PlanSettings]
    """Asked at every plan: keys may be rotated."""
    prepared: frozenset[str]
    """Namespaces that the chart has set up for runs."""
