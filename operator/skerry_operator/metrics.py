"""Prometheus metrics of the operator: one registry per process, labels from closed sets only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from typing_extensions import override

from skerry_operator.keys import Key

__all__ = ["Metrics", "Snapshot"]

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

Snapshot = Mapping[str, Mapping[tuple[str, ...], float]]
"""Metric name → label values → value, read at scrape time."""

_GAUGES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "skerry_queue_depth": ("Keys that wait for a worker.", ()),
    "skerry_queue_delayed": ("Keys that wait for their time.", ()),
    "skerry_queue_oldest_seconds": ("Age of the key that waits longest for a worker, in seconds.", ()),
    "skerry_runs": ("AgentRuns by phase.", ("phase",)),
    "skerry_cached_objects": ("Objects in the cache.", ("kind",)),
    "skerry_watch_age_seconds": ("Seconds since the watch of a kind was last known to deliver.", ("kind",)),
    "skerry_resync_age_seconds": ("Seconds since the last resync that finished.", ()),
    "skerry_leader": ("1 while this process leads.", ()),
}


class _AtScrape(Collector):
    """Gauges that are read from the live structures when somebody asks, so that nothing must keep them up to date."""

    def __init__(self, snapshot: Callable[[], Snapshot]) -> None:
        self._snapshot = snapshot

    @override
    def collect(self) -> Iterable[Metric]:
        values = self._snapshot()
        for name, (text, labels) in _GAUGES.items():
            family = GaugeMetricFamily(name, text, labels=labels)
            for label_values, value in values.get(name, {}).items():
                family.add_metric(label_values, value)
            yield family


class Metrics:
    """Counters that the shell bumps; also the work queue's observer."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self.calls = Counter(
            "skerry_api_calls",
            "Calls to the API server by verb, kind and result.",
            ("verb", "kind", "result"),
            registry=self.registry,
        )
        self.call_seconds = Histogram(
            "skerry_api_call_seconds",
            "Time of calls to the API server, in seconds.",
            ("verb",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.reconciles = Counter(
            "skerry_reconciles",
            "Passes over a key by topic and result.",
            ("topic", "result"),
            registry=self.registry,
        )
        self.reconcile_seconds = Histogram(
            "skerry_reconcile_seconds",
            "Time of a pass over a key, in seconds.",
            ("topic",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.conflicts = Counter(
            "skerry_conflicts",
            "Status applies that were planned on a stale object and planned again.",
            ("topic",),
            registry=self.registry,
        )
        self.wait_seconds = Histogram(
            "skerry_queue_wait_seconds",
            "Time that keys wait for a worker, in seconds.",
            ("topic",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.queue_adds = Counter(
            "skerry_queue_adds", "Keys put into the queue.", ("topic",), registry=self.registry
        )
        self.queue_retries = Counter(
            "skerry_queue_retries", "Keys put back after a failure.", ("topic",), registry=self.registry
        )
        self.transitions = Counter(
            "skerry_run_transitions",
            "AgentRuns that entered a phase, as written by this process.",
            ("phase",),
            registry=self.registry,
        )
        self.grants = Counter("skerry_grants", "Grants minted for runners.", registry=self.registry)
        self.events_dropped = Counter(
            "skerry_events_dropped", "Kubernetes Events that could not be written.", registry=self.registry
        )
        self.watch_missed = Counter(
            "skerry_watch_missed",
            "Objects whose change a resync found before the watch told.",
            ("kind",),
            registry=self.registry,
        )

    def serve_gauges(self, snapshot: Callable[[], Snapshot]) -> None:
        """Register what is read at scrape time; once per registry."""
        self.registry.register(_AtScrape(snapshot))

    def added(self, key: Key) -> None:
        self.queue_adds.labels(key.topic).inc()

    def taken(self, key: Key, waited: float) -> None:
        self.wait_seconds.labels(key.topic).observe(waited)

    def retried(self, key: Key) -> None:
        self.queue_retries.labels(key.topic).inc()
