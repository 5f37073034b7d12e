"""All reads of a pass: from the cache, or live where the plan asked for it. Decides nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from skerry_api.agentprofile import AgentProfile
from skerry_api.agentrun import AgentRun
from skerry_api.names import class_policy_name, profile_policy_name
from skerry_api.sandboxclass import SandboxClass
from skerry_operator.build.state_volume import state_volume_of
from skerry_operator.cache.store import Store, over
from skerry_operator.clock import Clock
from skerry_operator.errors import KubeError
from skerry_operator.keys import Key
from skerry_operator.kube.kinds import CLASS, PROFILE, RUN, SANDBOX, Kind
from skerry_operator.plan.actions import Refusal
from skerry_operator.plan.lookup import Broken, Found, Lookup, Missing, Unknown
from skerry_operator.plan.podview import PodView
from skerry_operator.plan.resolve import class_name, class_names, sandbox_name, texts_wanted
from skerry_operator.plan.types import (
    ObservedQueue,
    ObservedRun,
    ObservedSandbox,
    ObservedVolumes,
    QueueEntry,
)
from skerry_operator.reconcile.memory import Memory
from skerry_operator.reconcile.reader import Reader

__all__ = ["Gatherer"]


class Gatherer:
    def __init__(
        self, store: Store, reader: Reader, memory: Memory, clock: Clock, prepared: frozenset[str]
    ) -> None:
        """`prepared`: the namespaces that the chart has set up for runs."""
        self._store = store
        self._reader = reader
        self._memory = memory
        self._clock = clock
        self._prepared = prepared

    async def run(self, key: Key, *, live: bool, refusal: Refusal | None) -> ObservedRun:
        """Raises KubeError when a live read fails."""
        namespace, name = key.namespace, key.name
        if live:
            await asyncio.gather(
                self._reader.refresh(RUN, namespace, name), self._reader.refresh_runner_pods(namespace, name)
            )
        run = self._store.run(namespace, name)
        pods = await self._with_nodes(
            self._store.runner_pods(namespace, name, run.metadata.uid if run else None)
        )
        observed = ObservedRun(
            namespace=namespace,
            name=name,
            run=run,
            pods=pods,
            prepared=namespace in self._prepared,
            refusal=refusal,
            gone_at=None if run else self._store.gone_at(RUN, namespace, name),
            live=live,
        )
        if run is None:
            return observed
        if live and not pods:
            # What the next Pod is made of must be as it is now, not as a watch last told.
            await self._reader.refresh(PROFILE, namespace, run.spec.profile_ref.name)
        profile = await self._profile(namespace, run.spec.profile_ref.name)
        observed = replace(
            observed,
            profile=profile,
            sandbox=self._store.sandbox(namespace, sandbox_name(run)),
            sandbox_broken=self._broken(SANDBOX, namespace, sandbox_name(run)),
            sandbox_refusal=self._memory.refusals.get((namespace, sandbox_name(run))),
            admission=self._memory.decision(namespace, run.metadata.uid),
            status_written=self._memory.status_written.get(run.metadata.uid),
        )
        if over(run) or not observed.prepared or not isinstance(profile, Found):
            return observed  # where nothing is prepared, nothing else may be read
        sandbox_class, policy = await asyncio.gather(
            self._class(namespace, class_name(run, profile.value)),
            self._policy(namespace, profile_policy_name(run.spec.profile_ref.name)),
        )
        wanted = texts_wanted(run, profile.value, observed.admission, has_pod=bool(pods))
        texts = await self._reader.texts(namespace, wanted)
        observed = replace(observed, sandbox_class=sandbox_class, profile_policy=policy, texts=texts)
        if not live or pods or profile.value.spec.persistence.state_volume is None:
            return observed
        return replace(observed, volume=await self._reader.volume(namespace, state_volume_of(run)))

    async def sandbox(self, key: Key, *, live: bool, refusal: Refusal | None) -> ObservedSandbox:
        """Raises KubeError when a live read fails."""
        namespace, name = key.namespace, key.name
        if live:
            holders = [run for run in self._store.runs_of_sandbox(namespace, name) if not over(run)]
            await asyncio.gather(
                self._reader.refresh(SANDBOX, namespace, name),
                self._reader.refresh_sandbox_pods(namespace, name),
                *(self._reader.refresh(RUN, namespace, run.metadata.name) for run in holders),
            )
        sandbox = self._store.sandbox(namespace, name)
        runs = self._store.runs_of_sandbox(namespace, name)
        profiles = await self._profiles(namespace, runs)
        classes = await self._classes(namespace, class_names(sandbox, runs, profiles))
        policies = {each: await self._policy(namespace, class_policy_name(each)) for each in classes}
        return ObservedSandbox(
            namespace=namespace,
            name=name,
            sandbox=sandbox,
            runs=runs,
            pods=await self._with_nodes(self._store.sandbox_pods(namespace, name)),
            prepared=namespace in self._prepared,
            classes=classes,
            class_policies=policies,
            profiles=profiles,
            probe=self._memory.probes.get((namespace, name)),
            refusal=refusal,
            gone_at=None if sandbox else self._store.gone_at(SANDBOX, namespace, name),
            live=live,
        )

    async def volumes(self, key: Key) -> ObservedVolumes:
        """Raises KubeError."""
        namespace = key.namespace
        if namespace not in self._prepared:
            return ObservedVolumes(namespace)
        volumes = await self._reader.volumes(namespace)
        runs = {each.name: self._store.runs_of_sandbox(namespace, each.sandbox) for each in volumes}
        return ObservedVolumes(namespace, volumes, runs)

    async def queue(self, key: Key) -> ObservedQueue:
        namespace = key.namespace
        runs = self._store.live_runs(namespace)
        profiles = await self._profiles(namespace, runs)
        names: dict[str, None] = {}
        for run in runs:
            profile = profiles[run.spec.profile_ref.name]
            if isinstance(profile, Found):
                names[class_name(run, profile.value)] = None
        return ObservedQueue(
            namespace=namespace,
            entries=tuple(
                QueueEntry(
                    run=run,
                    profile=profiles[run.spec.profile_ref.name],
                    has_pod=self._store.has_pod(namespace, run.metadata.uid),
                )
                for run in runs
            ),
            sandboxes={each.metadata.name: each for each in self._store.sandboxes(namespace)},
            classes=await self._classes(namespace, names),
            admitted=self._memory.admitted(namespace),
            prepared=namespace in self._prepared,
        )

    async def _profile(self, namespace: str, name: str) -> Lookup[AgentProfile]:
        try:
            await self._reader.lookup(PROFILE, namespace, name)
        except KubeError as error:
            return Unknown(str(error))
        if broken := self._broken(PROFILE, namespace, name):
            return broken
        found = self._store.profile(namespace, name)
        return Missing(f"AgentProfile {name}") if found is None else Found(found)

    async def _class(self, namespace: str, name: str) -> Lookup[SandboxClass]:
        try:
            await self._reader.lookup(CLASS, namespace, name)
        except KubeError as error:
            return Unknown(str(error))
        if broken := self._broken(CLASS, namespace, name):
            return broken
        found = self._store.sandbox_class(namespace, name)
        return Missing(f"SandboxClass {name}") if found is None else Found(found)

    def _broken(self, kind: Kind, namespace: str, name: str) -> Broken | None:
        found = self._store.unreadable(kind, namespace, name)
        return Broken(f"{kind.name} {name}: {found.path}: {found.problem}") if found else None

    async def _profiles(self, namespace: str, runs: Iterable[AgentRun]) -> dict[str, Lookup[AgentProfile]]:
        names = dict.fromkeys(run.spec.profile_ref.name for run in runs if not over(run))
        return {name: await self._profile(namespace, name) for name in names}

    async def _classes(self, namespace: str, names: Iterable[str]) -> dict[str, Lookup[SandboxClass]]:
        return {name: await self._class(namespace, name) for name in names}

    async def _policy(self, namespace: str, name: str) -> Lookup[str]:
        known = self._memory.policies.get((namespace, name))
        if known is None:
            known = await self._reader.policy_hash(namespace, name)
            if not isinstance(known, Unknown):
                self._memory.policies[namespace, name] = known
        return known

    async def _with_nodes(self, pods: tuple[PodView, ...]) -> tuple[PodView, ...]:
        """Asks for the Node of Pods that should have ended: only its absence allows to force them away."""
        now = self._clock.now()
        seen = []
        for pod in pods:
            overdue = pod.deletion_timestamp is not None and pod.deletion_timestamp < now
            if overdue and pod.node:
                seen.append(replace(pod, node_state=await self._reader.node_state(pod.node)))
            else:
                seen.append(pod)
        return tuple(seen)
