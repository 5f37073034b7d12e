"""An API server for the operator's tests alone: an operator looks at every namespace, also at those of other tests."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from skerry_testing.apiserver import ApiServer
from skerry_testing.controlplane import ControlPlane, control_plane, of_this_checkout
from skerry_testing.fixtures import install_crds, temporary_namespace
from skerry_testing.handmade import Hands


@pytest.fixture(scope="session")
def plane() -> Iterator[ControlPlane]:
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    with control_plane(of_this_checkout(f"test-op-{worker}")) as running:
        asyncio.run(install_crds(running.access))
        yield running


@pytest_asyncio.fixture
async def api(plane: ControlPlane) -> AsyncIterator[ApiServer]:
    async with temporary_namespace(plane.access, "op") as admin:
        yield admin


@pytest.fixture
def hands(api: ApiServer) -> Hands:
    return Hands(api)
