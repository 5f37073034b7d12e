"""Install, upgrade, uninstall, install again on a real API server: what must stay stays."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from skerry_testing.apierrors import ApiError
from skerry_testing.apiserver import ApiServer
from skerry_testing.helm import CHART, HelmError

from .conftest import RUNS, SYSTEM, VALUES, Installed

Json = dict[str, Any]


@pytest_asyncio.fixture
async def system(installed: Installed) -> AsyncIterator[ApiServer]:
    async with ApiServer(installed.plane.access, SYSTEM) as api:
        yield api


async def _key(system: ApiServer) -> str:
    return str((await system.get("Secret", "skerry-signing-key"))["data"]["current.pem"])


async def test_an_upgrade_keeps_the_key_and_rolls_nothing(installed: Installed, system: ApiServer) -> None:
    key = await _key(system)
    before = await system.get("Deployment", "skerry-operator")
    installed.upgrade()
    assert await _key(system) == key
    assert (await system.get("Deployment", "skerry-operator"))["metadata"]["generation"] == before[
        "metadata"
    ]["generation"]


async def test_a_next_key_of_a_rotation_survives_an_upgrade(installed: Installed, system: ApiServer) -> None:
    await system.patch("Secret", "skerry-signing-key", {"data": {"next.pem": "bmV4dA=="}})
    installed.upgrade(metrics={"service": {"enabled": False}})
    assert (await system.get("Secret", "skerry-signing-key"))["data"]["next.pem"] == "bmV4dA=="
    assert await system.find("Service", "skerry-metrics") is None
    await system.patch("Secret", "skerry-signing-key", {"data": {"next.pem": None}})
    installed.upgrade()
    assert await system.find("Service", "skerry-metrics") is not None


async def test_uninstalling_keeps_runs_and_key_and_installing_again_finds_them(
    installed: Installed, system: ApiServer, admin: ApiServer
) -> None:
    key = await _key(system)
    body = {
        "apiVersion": "skerry.dev/v1alpha1", "kind": "AgentRun", "metadata": {"name": "kept"},
        "spec": {"profileRef": {"name": "scripted"}, "prompt": "x"},
    }  # fmt: skip
    await admin.create(body)
    installed.uninstall()
    try:
        assert await system.find("Deployment", "skerry-operator") is None
        # Parked sandboxes live on, and stay shut in.
        assert await admin.find("NetworkPolicy", "skerry-sandbox-ingress") is None
        assert await admin.find("NetworkPolicy", "skerry-default-deny") is not None
        assert (await admin.get("Namespace", RUNS))["metadata"]["name"] == RUNS
        assert (await admin.get("AgentRun", "kept"))["spec"]["prompt"] == "x"
        assert await _key(system) == key
    finally:
        installed.upgrade()
    assert await _key(system) == key


async def test_a_second_release_is_refused_before_it_makes_anything(
    installed: Installed, admin: ApiServer
) -> None:
    values = VALUES | {"runNamespaces": [{"name": "elsewhere", "create": True}]}
    with pytest.raises(HelmError, match="skerry-agentrun-status"):
        installed.helm.run(
            *("install", "skerry2", CHART, "--namespace", "other-system", "--create-namespace"), values=values
        )
    assert await admin.find("Namespace", "elsewhere") is None


async def test_the_operators_pod_passes_pod_security_restricted(
    installed: Installed, admin: ApiServer
) -> None:
    async with ApiServer(installed.plane.access, SYSTEM) as system:
        template = (await system.get("Deployment", "skerry-operator"))["spec"]["template"]
    pod = {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "as-operator"},
        "spec": template["spec"] | {"serviceAccountName": "skerry-runner", "serviceAccount": "skerry-runner"},
    }  # fmt: skip
    await admin.create(pod, dry_run=True)
    (container,) = pod["spec"]["containers"]
    container["securityContext"]["capabilities"] = {}
    with pytest.raises(ApiError, match="restricted"):  # so the namespace does enforce it
        await admin.create(pod, dry_run=True)


async def test_namespaces_can_be_added_and_dropped(installed: Installed, admin: ApiServer) -> None:
    name = f"more-{secrets.token_hex(4)}"
    more_values = {"name": name, "create": True, "labels": {"team": "x"}}
    installed.upgrade(runNamespaces=[{"name": RUNS, "create": True}, more_values])
    assert (await admin.get("Namespace", name))["metadata"]["labels"]["team"] == "x"
    installed.upgrade()
    async with ApiServer(installed.plane.access, name) as more:
        assert await more.find("ServiceAccount", "skerry-runner") is None
        assert await more.find("Namespace", name) is not None
        await more.delete("Namespace", name)
