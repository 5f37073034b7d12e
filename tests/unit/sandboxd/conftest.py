"""One sandboxd for a whole module of tests; those that break it start their own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from skerry_testing.sandboxd import Sandboxd, running_sandboxd


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandboxd(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sandboxd]:
    async with running_sandboxd(tmp_path_factory.mktemp("pod")) as started:
        yield started


@pytest.fixture
async def local(sandboxd: Sandboxd) -> AsyncIterator[httpx.AsyncClient]:
    """A client of its unix socket."""
    async with sandboxd.local() as client:
        yield client


@pytest.fixture
async def tcp(sandboxd: Sandboxd) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=sandboxd.base_url, trust_env=False, timeout=30) as client:
        yield client
