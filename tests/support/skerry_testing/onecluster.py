"""Fixtures and hooks of tests on a whole cluster with the chart installed (skerry_testing.stack); a conftest imports them.

With `-n` they run side by side on the one cluster. A test marked `alone` disturbs the others (it kills the operator,
restarts the API server, fills the namespace): it comes after them and has the cluster to itself.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterator

import pytest
import pytest_asyncio

from skerry_testing.apiserver import ApiServer
from skerry_testing.stack import Stack, running_stack
from skerry_testing.users import MARKS, turn
from skerry_testing.world import World

__all__ = ["pytest_collection_modifyitems", "pytest_runtest_makereport", "stack", "turn_of_the_test", "world"]

INSTANCE = "e2e"
NAMESPACE = "skerry-e2e"
FAILED = pytest.StashKey[bool]()


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    with running_stack(INSTANCE, NAMESPACE) as running:
        yield running


@pytest.fixture(autouse=True)
def turn_of_the_test(stack: Stack, request: pytest.FixtureRequest) -> Iterator[None]:
    with turn(MARKS / INSTANCE, alone=_alone(request.node)):
        yield


@pytest_asyncio.fixture
async def world(stack: Stack, turn_of_the_test: None, request: pytest.FixtureRequest) -> AsyncIterator[World]:
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
        if "stack" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.e2e)
            # Neither the first build nor waiting for a turn is the test's own time.
            if not item.get_closest_marker("timeout"):
                item.add_marker(pytest.mark.timeout(300, func_only=True))
    items.sort(key=_alone)


def _alone(item: pytest.Item) -> bool:
    return item.get_closest_marker("alone") is not None
