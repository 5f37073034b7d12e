"""What the runner brings: there as a whole, and read-only for all other calls."""

from __future__ import annotations

import pytest

from skerry_api.filesearch.models import FindRequest, GrepRequest
from skerry_runner.sandbox import errors
from skerry_testing.conformance.harness import Harness

__all__ = ["InstallConformance"]

FILES = {"pdf/SKILL.md": b"# PDF\nuse qpdf\n", "pdf/logo.png": b"\0\xff", "a/SKILL.md": b""}


class InstallConformance:
    async def test_installed_files_are_read_like_others(self, harness: Harness) -> None:
        root, sandbox = harness.skills, harness.sandbox
        await sandbox.install(root, FILES)
        for name, data in FILES.items():
            assert await sandbox.read_file(f"{root}/{name}") == data
            assert (await sandbox.stat(f"{root}/{name}")).mode == 0o444
        listing = await sandbox.list_dir(root, depth=2)
        assert [entry.path.removeprefix(root) for entry in listing.entries] == [
            "/a", "/pdf", "/a/SKILL.md", "/pdf/SKILL.md", "/pdf/logo.png",
        ]  # fmt: skip
        found = await sandbox.grep(GrepRequest(path=root, pattern="qpdf", limit=9))
        assert [(match.path.removeprefix(root), match.line) for match in found.matches] == [
            ("/pdf/SKILL.md", 2)
        ]
        paths = (await sandbox.find(FindRequest(path=root, glob="**/*.md", limit=9))).paths
        assert [path.path.removeprefix(root) for path in paths] == ["/a/SKILL.md", "/pdf/SKILL.md"]

    async def test_nothing_else_writes_there(self, harness: Harness) -> None:
        root, sandbox = harness.skills, harness.sandbox
        await sandbox.install(root, FILES)
        path = f"{root}/pdf/SKILL.md"
        for call in (
            sandbox.write_file(path, b"x"),
            sandbox.write_file(path, b"x", append=True),
            sandbox.write_file(f"{root}/new/SKILL.md", b"x"),
            sandbox.delete(path),
            sandbox.delete(f"{root}/pdf", recursive=True),
        ):
            with pytest.raises(errors.ReadOnlyPath):
                await call
        assert await sandbox.read_file(path) == FILES["pdf/SKILL.md"]

    async def test_installing_again_leaves_nothing_of_before(self, harness: Harness) -> None:
        root, sandbox = harness.skills, harness.sandbox
        await sandbox.install(root, FILES)
        await sandbox.install(root, {"pdf/SKILL.md": b"new"})
        assert await sandbox.read_file(f"{root}/pdf/SKILL.md") == b"new"
        listing = await sandbox.list_dir(root, depth=2)
        assert [entry.path.removeprefix(root) for entry in listing.entries] == ["/pdf", "/pdf/SKILL.md"]
        await sandbox.install(root, {})
        assert (await sandbox.list_dir(root)).entries == ()

    async def test_installing_follows_no_link_out(self, harness: Harness) -> None:
        target = harness.real / "mine"
        target.mkdir()
        (target / "kept").write_text("x")
        (harness.real_skills / "pdf").symlink_to(target)
        await harness.sandbox.install(harness.skills, FILES)
        assert [entry.name for entry in target.iterdir()] == ["kept"]
        assert (harness.real_skills / "pdf" / "SKILL.md").read_bytes() == FILES["pdf/SKILL.md"]

    async def test_commands_read_it(self, harness: Harness) -> None:
        await harness.sandbox.install(harness.skills, FILES)
        command = f"cat {harness.skills}/pdf/SKILL.md"
        result = await harness.sandbox.execute(command, key=harness.key("installed"))
        assert result.stdout == FILES["pdf/SKILL.md"]
