"""Every sandbox keeps the Protocol: the Local provider, and sandboxd over HTTP."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from skerry_runner.paths import SKILLS, WORKSPACE
from skerry_runner.sandbox.access import FixedAccess
from skerry_runner.sandbox.local import LocalSandbox
from skerry_runner.sandbox.mounts import Mount
from skerry_runner.sandbox.remote import RemoteSandbox
from skerry_testing.conformance import CommandConformance, Harness, InstallConformance, SandboxConformance
from skerry_testing.sandboxd import Sandboxd, running_sandboxd


def local(root: Path) -> tuple[LocalSandbox, Path]:
    """The thread's sandbox, and where its skills lie."""
    skills = root.with_name("skills")
    skills.mkdir(parents=True)
    mount = Mount(SKILLS, skills, writable=False)
    return LocalSandbox("local-1", root, allow_bash=True, mounts=[mount]), skills


class TestLocal(SandboxConformance):
    @pytest.fixture
    async def harness(self, tmp_path: Path) -> AsyncIterator[Harness]:
        sandbox, skills = local(tmp_path / "thread")
        yield Harness(sandbox, WORKSPACE, tmp_path / "thread" / "workspace", SKILLS, skills)
        await sandbox.close()


class TestLocalInAnAwkwardPlace(CommandConformance, InstallConformance):
    """Blanks and quotes in the person's own path."""

    @pytest.fixture
    async def harness(self, tmp_path: Path) -> AsyncIterator[Harness]:
        root = tmp_path / "my files' (1)"
        sandbox, skills = local(root / "thread")
        yield Harness(sandbox, WORKSPACE, root / "thread" / "workspace", SKILLS, skills)
        await sandbox.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandboxd(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sandboxd]:
    where = tmp_path_factory.mktemp("pod")
    (where / "skills").mkdir()
    roots = f"{where / 'files'},{where / 'skills'}:ro"
    async with running_sandboxd(where, SKERRY_FILE_ROOTS=roots) as started:
        yield started


class TestRemote(SandboxConformance):
    """All tests share one sandboxd, as all tools of a run do."""

    @pytest.fixture
    async def harness(self, sandboxd: Sandboxd) -> AsyncIterator[Harness]:
        shutil.rmtree(sandboxd.workspace)
        sandboxd.workspace.mkdir()
        sandbox = RemoteSandbox("sbx-test", FixedAccess(sandboxd.access()), sandboxd.identity.runner)
        skills = sandboxd.files.with_name("skills")
        shutil.rmtree(skills)
        skills.mkdir()
        yield Harness(
            sandbox,
            str(sandboxd.workspace),
            sandboxd.workspace,
            str(skills),
            skills,
            test=secrets.token_hex(4),
        )
        await sandbox.close()
