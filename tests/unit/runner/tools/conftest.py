"""Call one tool as the model would, in a fake sandbox and in a local one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from skerry_api.phases import OutcomeClass
from skerry_runner.pipeline import assemble
from skerry_runner.sandbox.local import LocalSandbox
from skerry_runner.sandbox.types import Sandbox
from skerry_runner.tools.glob import glob
from skerry_runner.tools.grep import grep
from skerry_runner.tools.present_files import present_files
from skerry_runner.tools.str_replace import str_replace
from skerry_runner.tools.view_image import view_image
from skerry_testing.fakesandbox import FakeSandbox
from skerry_testing.rowrun import play
from skerry_testing.runnerworld import RunnerWorld, document

TOOLS = (glob, grep, present_files, str_replace, view_image)

CallTool = Callable[..., Awaitable[tuple[str, str]]]
"""(name, **args) → (status, text) of the result."""


def caller(sandbox: Sandbox) -> CallTool:
    async def call(name: str, **args: Any) -> tuple[str, str]:
        async with RunnerWorld() as world:
            world.provider.sandbox = sandbox  # type: ignore[assignment]  # any implementation will do
            script = json.dumps({"steps": [{"toolCalls": [{"name": name, "args": args}]}, {"say": "ok"}]})
            doc = document(script)
            played = await play(world, doc, assemble(doc), tools=TOOLS)
            assert played.result.outcome.class_ is OutcomeClass.SUCCEEDED, played.result.outcome
            (event,) = world.sink.events("tool.result")
            return event["status"], event["content"]

    return call


@pytest.fixture
def fake() -> FakeSandbox:
    return FakeSandbox()


@pytest.fixture
def call_fake(fake: FakeSandbox) -> CallTool:
    return caller(fake)


@pytest.fixture(params=["fake", "local"])
async def call_tool(
    request: pytest.FixtureRequest, fake: FakeSandbox, tmp_path: Path
) -> AsyncIterator[CallTool]:
    if request.param == "fake":
        yield caller(fake)
        return
    local = LocalSandbox("sbx-1", tmp_path, allow_bash=True)
    yield caller(local)
    await local.close()


@pytest.fixture
async def call_local(tmp_path: Path) -> AsyncIterator[CallTool]:
    local = LocalSandbox("sbx-1", tmp_path, allow_bash=True)
    yield caller(local)
    await local.close()


@pytest.fixture
async def call_without_bash(tmp_path: Path) -> AsyncIterator[CallTool]:
    local = LocalSandbox("sbx-1", tmp_path, allow_bash=False)
    yield caller(local)
    await local.close()
