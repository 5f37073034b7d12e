"""Book-keeping of traces: on the loop while nobody traces, else as LangSmith has it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import langsmith
import pytest
from langsmith import traceable, tracing_context
from typing_extensions import override

from skerry_runner.tracing import spare_threads


class Counting(ThreadPoolExecutor):
    """Counts what it is given."""

    given = 0

    @override
    def submit(self, *args: Any, **kwargs: Any) -> Any:
        self.given += 1
        return super().submit(*args, **kwargs)


@pytest.fixture(autouse=True)
def spared() -> Iterator[None]:
    spare_threads()
    yield
    spare_threads()


async def threads_of_a_call(enabled: Literal[False, "local"]) -> int:
    executor = Counting()
    asyncio.get_running_loop().set_default_executor(executor)

    @traceable
    async def double(number: int) -> int:
        return 2 * number

    # "local" traces without sending anything anywhere; nor does this client ask for anything.
    client = langsmith.Client(api_url="http://127.0.0.1:1", api_key="none", auto_batch_tracing=False, info={})
    with tracing_context(enabled=enabled, client=client):
        assert await double(4) == 8
    return executor.given


async def test_nothing_leaves_the_loop_while_nobody_traces() -> None:
    assert await threads_of_a_call(enabled=False) == 0


async def test_langsmith_alone_would_send_it_to_a_thread_and_back_twice() -> None:
    langsmith.set_runtime_overrides()
    assert await threads_of_a_call(enabled=False) == 2


async def test_a_trace_is_kept_as_ever() -> None:
    assert await threads_of_a_call(enabled="local") == 2
