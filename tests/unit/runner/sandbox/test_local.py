"""The Local provider's own: permission for commands, translation, a clean environment."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from skerry_runner.sandbox import errors
from skerry_runner.sandbox.local import LocalSandbox
from skerry_runner.sandbox.mounts import Mount


async def test_commands_are_off_unless_allowed(tmp_path: Path) -> None:
    sandbox = LocalSandbox("l", tmp_path / "t", allow_bash=False)
    assert not sandbox.capabilities.runs_commands
    with pytest.raises(errors.SandboxRefused) as caught:
        await sandbox.execute("touch x", key="a")
    assert caught.value.reason == "BashNotAllowed"
    # Files work all the same.
    assert await sandbox.write_file("/mnt/user-data/workspace/a", b"x") == 1


async def test_folders_and_capabilities(tmp_path: Path) -> None:
    sandbox = LocalSandbox("l", tmp_path / "t", allow_bash=True)
    listing = await sandbox.list_dir("/mnt/user-data")
    assert [entry.path.rpartition("/")[2] for entry in listing.entries] == ["outputs", "uploads", "workspace"]
    assert sandbox.capabilities.mounts_thread_data
    assert sandbox.host_path("/mnt/user-data/uploads/x") == tmp_path / "t" / "uploads" / "x"


async def test_the_persons_environment_is_not_inherited(tmp_path: Path) -> None:
    environ = {
        "PATH": "/usr/bin:/bin",
        "OPENAI_API_KEY": "secret",
        "SKERRY_X": "1",
        "LC_ALL": "C",
        "HOME": "/h",
    }
    sandbox = LocalSandbox("l", tmp_path / "t", allow_bash=True, environ=environ)
    result = await sandbox.execute("env", key="a", env={"GIVEN": "/mnt/user-data/x"})
    names = {line.split("=")[0] for line in result.text.splitlines()}
    assert {"PATH", "LC_ALL", "HOME", "GIVEN"} <= names
    assert not names & {"OPENAI_API_KEY", "SKERRY_X"}


async def test_real_paths_never_show(tmp_path: Path) -> None:
    sandbox = LocalSandbox("l", tmp_path / "t", allow_bash=True)
    command = "pwd; realpath /mnt/user-data/uploads; ls /mnt/user-data/none; echo $P"
    result = await sandbox.execute(command, key="a", env={"P": "/mnt/user-data/outputs"})
    assert str(tmp_path) not in result.text
    assert result.stdout == b"/mnt/user-data/workspace\n/mnt/user-data/uploads\n/mnt/user-data/outputs\n"
    with pytest.raises(errors.PathNotFound) as caught:
        await sandbox.read_file("/mnt/user-data/none")
    assert str(tmp_path) not in str(caught.value)


async def test_read_only_mounts(tmp_path: Path) -> None:
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "s").write_text("skill")
    mount = Mount("/mnt/skills", tmp_path / "skills", writable=False)
    sandbox = LocalSandbox("l", tmp_path / "t", allow_bash=True, mounts=[mount])
    assert await sandbox.read_file("/mnt/skills/s") == b"skill"
    with pytest.raises(errors.ReadOnlyPath):
        await sandbox.write_file("/mnt/skills/s", b"")


async def test_a_cancelled_key_is_lost_not_run_again(tmp_path: Path) -> None:
    sandbox = LocalSandbox("l", tmp_path / "t", allow_bash=True)
    task = asyncio.create_task(sandbox.execute("echo x >> count; sleep 600", key="a"))
    count = tmp_path / "t" / "workspace" / "count"
    async with asyncio.timeout(30):
        while not count.exists():  # noqa: ASYNC110 - a command of another process sets no event
            await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(errors.CommandLost):
        await sandbox.execute("echo x >> count; sleep 600", key="a")
    assert count.read_text() == "x\n"


async def test_closing_keeps_the_files(tmp_path: Path) -> None:
    root = tmp_path / "with blanks"
    sandbox = LocalSandbox("l", root, allow_bash=True)
    await sandbox.execute("echo x > kept", key="a")
    await sandbox.close()
    await sandbox.close()
    again = LocalSandbox("l", root, allow_bash=False)
    assert await again.read_file("/mnt/user-data/workspace/kept") == b"x\n"
    await again.close()
