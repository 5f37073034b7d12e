"""Every test here runs on a whole cluster with the chart installed; see skerry_testing.stack."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterator

import pytest
import pytest_asyncio

from skerry_testing.apiserver import ApiServer
from skerry_testing.stack import Stack, running_stack
from skerry_testing.world import World

NAMESPACE = "skerry-e2e"
FAILED = pytest.StashKey[bool]()


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    with running_stack("e2e", NAMESPACE) as running:
        yield running


@pytest_asyncio.fixture
async def world(stack: Stack, request: pytest.FixtureRequest) -> AsyncIterator[World]:
    """The prepared namespace; what the test makes in it goes with the test."""
    async with ApiServer(stack.access, NAMESPACE) as api:
        world = World(api, stack)
        yield world
        if request.node.stash.get(FAILED, False):
            request.node.add_report_section("teardown", "the namespace", await world.show())
        await world.clean()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/e2e/" in str(item.path):
            item.add_marker(pytest.mark.e2e)
