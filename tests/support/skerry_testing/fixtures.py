"""pytest fixtures around a real API server; a conftest imports the ones that it wants."""

from __future__ import annotations

import asyncio
import secrets
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio
import yaml

from skerry_api.kinds import KINDS
from skerry_testing.access import Access
from skerry_testing.apierrors import ApiError
from skerry_testing.apiserver import ApiServer
from skerry_testing.controlplane import ROOT, ControlPlane, control_plane, of_this_checkout
from skerry_testing.users import MARKS

__all__ = ["api", "install_crds", "own_plane", "plane", "temporary_namespace"]

SHARED = of_this_checkout("test-cp")
SWEPT = ("Pod", "Lease", "ConfigMap", "Secret", "NetworkPolicy", "Event")


@pytest.fixture(scope="session")
def plane() -> Iterator[ControlPlane]:
    """The API server of this session, shared with all test processes of this checkout, our CRDs installed."""
    with control_plane(SHARED) as running:
        asyncio.run(install_crds(running.access))
        yield running


@pytest.fixture
def own_plane() -> Iterator[ControlPlane]:
    """An API server of this test alone, which may be restarted and broken."""
    instance = f"test-own-{secrets.token_hex(3)}"
    with control_plane(instance) as running:
        asyncio.run(install_crds(running.access))
        yield running
    shutil.rmtree(MARKS / instance, ignore_errors=True)  # Not there for a server from outside.


@pytest_asyncio.fixture
async def api(plane: ControlPlane) -> AsyncIterator[ApiServer]:
    """The admin in a fresh namespace that goes with the test."""
    async with temporary_namespace(plane.access) as admin:
        yield admin


async def install_crds(access: Access) -> None:
    """Apply crds/ and wait until each is served."""
    async with ApiServer(access) as admin:
        for path in sorted((ROOT / "crds").glob("*.yaml")):
            await admin.apply(yaml.safe_load(path.read_text(encoding="utf-8")), "skerry-crds")
        for model in KINDS.values():
            await admin.wait_for("CustomResourceDefinition", f"{model.PLURAL}.skerry.dev", _established)


def _established(crd: dict[str, dict[str, list[dict[str, str]]]]) -> bool:
    conditions = crd.get("status", {}).get("conditions") or []  # null at first
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


@asynccontextmanager
async def temporary_namespace(access: Access, prefix: str = "t") -> AsyncIterator[ApiServer]:
    """A namespace with a ServiceAccount `default`, since no controller is there to make one."""
    name = f"{prefix}-{secrets.token_hex(5)}"
    async with ApiServer(access, name) as admin:
        await admin.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        try:
            account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
            await admin.create(account)
            yield admin
        finally:
            await _remove(admin)


async def _remove(admin: ApiServer) -> None:
    """Do what the namespace controller would: it is not there."""
    await asyncio.gather(*(admin.delete_all(kind) for kind in (*KINDS, *SWEPT)))
    namespace = await admin.delete("Namespace", admin.namespace)
    namespace["spec"] = {"finalizers": []}
    try:
        await admin.replace(namespace, subresource="finalize")
    except ApiError as error:
        if error.code not in {404, 409}:  # With controllers at work it goes by itself.
            raise
