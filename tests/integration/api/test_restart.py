"""An API server that goes away for a moment: nothing stored is lost, and waits of the tests outlive it."""

from __future__ import annotations

import asyncio

from skerry_testing.apiserver import Json
from skerry_testing.controlplane import ControlPlane
from skerry_testing.fixtures import temporary_namespace
from skerry_testing.manifests import a_run


def cancelled(run: Json) -> bool:
    return run["spec"]["cancel"] is True


async def test_objects_and_waits_survive_a_restart(own_plane: ControlPlane) -> None:
    async with temporary_namespace(own_plane.access) as api:
        before = await api.create(a_run())
        waiting = asyncio.create_task(api.wait_for("AgentRun", "a", cancelled))
        await api.wait_for("AgentRun", "a", lambda _: True)
        await asyncio.to_thread(own_plane.restart)
        after = await api.get("AgentRun", "a")
        assert after == before
        await api.patch("AgentRun", "a", {"spec": {"cancel": True}})
        assert (await waiting)["metadata"]["uid"] == before["metadata"]["uid"]
