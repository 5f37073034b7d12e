"""What planners take from the operator's configuration: plain frozen values, no file and no environment."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

__all__ = ["ClusterDNS", "PlanSettings"]


@dataclass(frozen=True, slots=True)
class ClusterDNS:
    """Where the cluster's own resolver runs; `ports` are UDP and TCP."""

    namespace: str = "kube-system"
    pod_labels: tuple[tuple[str, str], ...] = (("k8s-app", "kube-dns"),)
    ports: tuple[int, ...] = (53,)


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """Everything but the world and the time that a plan depends on."""

    runner_image: str
    sandbox_image: str
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    runner_service_account: str = "skerry-runner"
    max_runs_per_namespace: int = 50
    cluster_cidrs: tuple[str, ...] = ()
    """Pod, Service and node ranges: never public, whatever their addresses are."""
    public_resolvers: tuple[str, ...] = ("1.1.1.1", "8.8.8.8")
    """Addresses that Pods with egress Internet ask instead of the cluster's DNS."""
    cluster_dns: ClusterDNS = field(default_factory=ClusterDNS)
    operator_keys: str = '{"keys":[]}'
    """JWKS text with the public halves of the operator's keys, for sandbox Pods."""
    max_replacements: int = 3
    cancel_grace: timedelta = timedelta(seconds=30)
    """How long a cancelled or reported runner may take to end itself."""
    terminating_grace: timedelta = timedelta(seconds=60)
    """How long past its deletionTimestamp a Pod may hold up the end of a run."""
    retry_refused: timedelta = timedelta(seconds=15)
    """Pause before an object that the API server refused is tried again."""
    position_interval: timedelta = timedelta(seconds=30)
    """Shortest time between two writes that only move a run's place in the queue."""
    runner_pod_retention: timedelta = timedelta(hours=1)
    """Retention where the profile is gone."""
    sandbox_startup: timedelta = timedelta(minutes=10)
    """How long a sandbox Pod may take until it is Ready."""
    probe_patience: timedelta = timedelta(minutes=2)
    """How long past its expiry an idle sandbox is kept when it can't be asked."""
    probe_interval: timedelta = timedelta(seconds=20)
    """Pause between two questions to a sandbox that did not answer."""
    orphan_grace: timedelta = timedelta(seconds=15)
    """How long the garbage collector may take before we delete Pods without an owner."""
    grant_margin: timedelta = timedelta(minutes=5)
    """How long a grant outlives the run's deadline."""
