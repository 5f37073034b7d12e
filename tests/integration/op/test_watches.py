"""kopf's watches in their thread: what they tell, and that their failure is ours."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Any

import pytest
import yaml

from skerry_operator.handlers import KopfThread, kopf_registry, kopf_settings
from skerry_operator.kube.credentials import Credentials
from skerry_operator.kube.kinds import POD, RUN, Kind, Raw
from skerry_testing.apiserver import ApiServer
from skerry_testing.eventually import eventually
from skerry_testing.manifests import a_run

Told = list[tuple[Kind, str | None, str]]


def a_pod(name: str, **labels: str) -> dict[str, Any]:
    spec = {"containers": [{"name": "c", "image": "i"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": spec}


OURS = {"app.kubernetes.io/managed-by": "skerry", "skerry.dev/component": "runner"}


async def test_objects_are_told_as_listed_changed_and_deleted_and_nothing_is_written(api: ApiServer) -> None:
    told: Told = []

    def listener(kind: Kind, event: str | None, raw: Raw) -> None:
        if raw["metadata"]["namespace"] == api.namespace:
            told.append((kind, event, raw["metadata"]["name"]))

    await api.create(a_run("before"))
    thread = KopfThread(kopf_registry(listener, Credentials(api.access.kubeconfig)), kopf_settings())
    thread.start()
    try:
        await eventually(lambda: (RUN, None, "before") in told, within=30)
        await api.create(a_run("after"))
        await api.create(a_pod("foreign", app="x"))
        await api.create(a_pod("ours", **OURS))
        await api.delete("AgentRun", "before")
        await eventually(
            lambda: (
                {(RUN, "ADDED", "after"), (POD, "ADDED", "ours"), (RUN, "DELETED", "before")} <= set(told)
            ),
            within=30,
        )
        assert not [line for line in told if line[2] == "foreign"]
        for kind, name in (("AgentRun", "after"), ("Pod", "ours")):
            found = await api.get(kind, name)
            assert "finalizers" not in found["metadata"]
            assert "annotations" not in found["metadata"]
            assert not [
                each for each in found["metadata"]["managedFields"] if "kopf" in each["manager"].lower()
            ]
    finally:
        await thread.end(20)
    await asyncio.wait_for(thread.ended(), 5)
    gc.collect()  # A connection that was left open is this test's fault, not that of whoever runs next.


async def test_watches_that_fail_for_good_end_with_their_error(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    config = {
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
    }  # fmt: skip
    kubeconfig.write_text(yaml.safe_dump(config), encoding="utf-8")
    settings = kopf_settings()
    settings.networking.error_backoffs = [0.1]
    thread = KopfThread(kopf_registry(lambda *_: None, Credentials(kubeconfig)), settings)
    thread.start()
    with pytest.raises(Exception, match=r"127\.0\.0\.1"):
        await asyncio.wait_for(thread.ended(), 60)
    await thread.end(5)


async def test_a_thread_that_was_never_started_ends_at_once(api: ApiServer) -> None:
    thread = KopfThread(kopf_registry(lambda *_: None, Credentials(api.access.kubeconfig)), kopf_settings())
    await asyncio.wait_for(thread.end(60), 5)
