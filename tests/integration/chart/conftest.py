"""One API server with the chart on it, of these tests alone: its policies would hold other tests to our rules."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from functools import partial

import pytest
import pytest_asyncio

from skerry_testing.apierrors import ApiError
from skerry_testing.apiserver import ApiServer
from skerry_testing.controlplane import ControlPlane, control_plane, of_this_checkout
from skerry_testing.eventually import eventually_true
from skerry_testing.fixtures import install_crds
from skerry_testing.helm import CHART, Helm

SYSTEM = "skerry-system"
RUNS = "agents"
VALUES = {
    "runNamespaces": [{"name": RUNS, "create": True}],
    "clusterCIDRs": ["203.0.113.0/24", "fd00::/8"],
    "apiServer": {"cidrs": ["192.0.2.1/32"]},  # no controller makes the Service that would be looked up
}


@dataclass(frozen=True)
class Installed:
    plane: ControlPlane
    helm: Helm

    def upgrade(self, **values: object) -> None:
        """Install or upgrade the release; values are laid over VALUES."""
        self.helm.run(
            *("upgrade", "--install", "skerry", CHART, "--namespace", SYSTEM, "--create-namespace"),
            values=VALUES | values,
        )

    def uninstall(self) -> None:
        self.helm.run("uninstall", "skerry", "--namespace", SYSTEM)


@pytest.fixture(scope="session")
def chart_plane() -> Iterator[ControlPlane]:
    with control_plane(of_this_checkout("test-chart")) as running:
        asyncio.run(install_crds(running.access))
        yield running


@pytest.fixture(scope="session")
def installed(chart_plane: ControlPlane) -> Iterator[Installed]:
    it = Installed(chart_plane, Helm.on(chart_plane))
    it.upgrade()
    asyncio.run(_policies_are_active(chart_plane))
    yield it
    it.uninstall()


@pytest.fixture(scope="session")
def helm(chart_plane: ControlPlane) -> Helm:
    return Helm.on(chart_plane)


@pytest_asyncio.fixture
async def admin(installed: Installed) -> AsyncIterator[ApiServer]:
    async with ApiServer(installed.plane.access, RUNS) as api:
        yield api
        for kind in ("AgentRun", "Sandbox", "Pod", "NetworkPolicy"):
            await api.delete_all(kind, labels="app.kubernetes.io/managed-by!=Helm")


@pytest_asyncio.fixture
async def operator(admin: ApiServer, installed: Installed) -> AsyncIterator[ApiServer]:
    """The operator's ServiceAccount, in the run namespace."""
    async with ApiServer(installed.plane.access, SYSTEM) as system:
        token = await system.token_for("skerry-operator")
    async with admin.as_token(token) as api:
        yield api


async def _policies_are_active(plane: ControlPlane) -> None:
    """Policies work a moment after they are made: wait until the admin is refused by both."""
    probes = (
        ("AgentRun", {"profileRef": {"name": "scripted"}, "prompt": "x"}),
        ("Sandbox", {"classRef": {"name": "default"}, "threadId": "t"}),
    )
    async with ApiServer(plane.access, RUNS) as api:
        for kind, spec in probes:
            body = {
                "apiVersion": "skerry.dev/v1alpha1",
                "kind": kind,
                "metadata": {"name": "probe"},
                "spec": spec,
            }
            await api.create(body)
            await eventually_true(partial(_is_refused, api, kind))
            await api.delete(kind, "probe")


async def _is_refused(api: ApiServer, kind: str) -> bool:
    try:
        await api.patch(kind, "probe", {"status": {"phase": "Pending"}}, subresource="status")
    except ApiError as error:
        # 429: the server still sets up the storage of a CRD that has just been made
        if error.code not in {403, 422, 429}:
            raise
        return error.code != 429
    return False
