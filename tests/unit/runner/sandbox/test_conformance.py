"""Every sandbox keeps the Protocol: the Local provider, and sandboxd over HTTP."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from skerry_runner.sandbox.access import FixedAccess
from skerry_runner.sandbox.local import LocalSandbox
from skerry_runner.sandbox.remote import RemoteSandbox
from skerry_testing.conformance import CommandConformance, Harness, SandboxConformance
from skerry_testing.sandboxd import Sandboxd, running_sandboxd


class TestLocal(SandboxConformance):
    @pytest.fixture
    async def harness(self, tmp_path: Path) -> AsyncIterator[Harness]:
        sandbox = LocalSandbox("local-1", tmp_path / "thread", allow_bash=True)
        yield Harness(sandbox, "/mnt/user-data/workspace", tmp_path / "thread" / "workspace")
        await sandbox.close()


class TestLocalInAnAwkwardPlace(CommandConformance):
    """Blanks and quotes in the person's own path."""

    @pytest.fixture
    async def harness(self, tmp_path: Path) -> AsyncIterator[Harness]:
        root = tmp_path / "my files' (1)"
        sandbox = LocalSandbox("local-1", root, allow_bash=True)
        yield Harness(sandbox, "/mnt/user-data/workspace", root / "workspace")
        await sandbox.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandboxd(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sandboxd]:
    async with running_sandboxd(tmp_path_factory.mktemp("pod")) as started:
        yield started


class TestRemote(SandboxConformance):
    """All tests share one sandboxd, as all tools of a run do."""

    @pytest.fixture
    async def harness(self, sandboxd: Sandboxd) -> AsyncIterator[Harness]:
        shutil.rmtree(sandboxd.workspace)
        sandboxd.workspace.mkdir()
        sandbox = RemoteSandbox("sbx-test", FixedAccess(sandboxd.access()), sandboxd.identity.runner)
        yield Harness(sandbox, str(sandboxd.workspace), sandboxd.workspace, test=secrets.token_hex(4))
        await sandbox.close()
