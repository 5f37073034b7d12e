"""The API server in memory keeps the promises that the real one is held to in tests/integration/op."""

from __future__ import annotations

import pytest

from skerry_testing.fakeclock import FakeClock
from skerry_testing.fakekube import FakeKube
from skerry_testing.portcontract import PROMISES, Promise


@pytest.mark.parametrize("promise", PROMISES, ids=lambda each: each.__name__)
async def test_promise(promise: Promise) -> None:
    await promise(FakeKube(FakeClock()), "ns")
