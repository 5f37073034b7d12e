"""File calls over the wire: what the conformance suite can't reach through the Sandbox protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from skerry_testing.sandboxd import Sandboxd, running_sandboxd


@pytest.fixture
def url(sandboxd: Sandboxd) -> str:
    return f"/v1/files?path={sandboxd.workspace}/f"


async def test_modes(sandboxd: Sandboxd, local: httpx.AsyncClient, url: str) -> None:
    for mode, expected in (("0755", 0o755), ("600", 0o600)):
        assert (await local.put(f"{url}-mode&mode={mode}", content=b"x")).status_code == 200
        assert (sandboxd.workspace / "f-mode").stat().st_mode & 0o7777 == expected
    bad = await local.put(f"{url}-mode&mode=4755", content=b"x")
    assert (bad.status_code, bad.json()["field"]) == (400, "mode")


async def test_an_append_with_a_key_is_done_once(
    sandboxd: Sandboxd, local: httpx.AsyncClient, url: str
) -> None:
    for _ in range(3):
        answer = await local.put(f"{url}-append&append=true&key=k1", content=b"line\n")
        assert answer.json()["size"] == 5
    other = await local.put(f"{url}-append&append=true&key=k1", content=b"other\n")
    assert (other.status_code, other.json()["reason"]) == (409, "KeyConflict")
    assert (sandboxd.workspace / "f-append").read_bytes() == b"line\n"


async def test_sizes_and_ranges(local: httpx.AsyncClient, url: str) -> None:
    await local.put(f"{url}-range", content=b"0123456789")
    for query, data in (
        ("", b"0123456789"),
        ("&offset=3", b"3456789"),
        ("&offset=3&limit=2", b"34"),
        ("&limit=0", b""),
    ):
        answer = await local.get(f"{url}-range{query}")
        assert (answer.content, answer.headers["Skerry-File-Size"]) == (data, "10")
        assert int(answer.headers["Content-Length"]) == len(data)


@pytest.mark.parametrize(
    ("target", "field"),
    [
        ("/v1/files", "path"),
        ("/v1/files?path=/a&path=/b", "path"),
        ("/v1/files?path=/a&offset=x", "offset"),
        ("/v1/files/list?path=/a&depth=99", "depth"),
    ],
)
async def test_bad_parameters(local: httpx.AsyncClient, target: str, field: str) -> None:
    answer = await local.get(target)
    assert (answer.status_code, answer.json()["field"]) == (400, field)


async def test_a_connection_lost_in_an_upload_changes_nothing(sandboxd: Sandboxd, url: str) -> None:
    (sandboxd.workspace / "f-cut").write_bytes(b"old")

    async def parts() -> AsyncIterator[bytes]:
        yield b"x" * 100_000
        raise RuntimeError("the caller dies")

    async with sandboxd.local() as client:
        with pytest.raises(RuntimeError):
            await client.put(f"{url}-cut", content=parts())
    async with sandboxd.local() as client:
        assert (await client.get(f"{url}-cut")).content == b"old"
    assert [p.name for p in sandboxd.workspace.iterdir() if p.name.startswith(".skerry")] == []


async def test_names_that_are_no_text(sandboxd: Sandboxd, local: httpx.AsyncClient) -> None:
    (sandboxd.workspace / "odd").mkdir()
    (sandboxd.workspace / "odd" / b"\xff.txt".decode("utf-8", "surrogateescape")).touch()
    answer = await local.get(f"/v1/files/list?path={sandboxd.workspace}/odd")
    assert [entry["path"].rpartition("/")[2] for entry in answer.json()["entries"]] == ["\ufffd.txt"]


async def test_a_read_only_root(tmp_path: Path) -> None:
    skills = tmp_path / "skills"
    skills.mkdir()
    (skills / "s").write_text("skill")
    roots = f"{tmp_path / 'files'},{skills}:ro"
    async with running_sandboxd(tmp_path, SKERRY_FILE_ROOTS=roots) as sandboxd, sandboxd.local() as local:
        assert (await local.get(f"/v1/files?path={skills}/s")).content == b"skill"
        for call in (
            local.put(f"/v1/files?path={skills}/s", content=b"x"),
            local.put(f"/v1/files?path={skills}/s&install=true", content=b"x"),  # no proof of the runner
            local.delete(f"/v1/files?path={skills}/s"),
            local.delete(f"/v1/files?path={skills}/s&install=true"),
        ):
            answer = await call
            assert (answer.status_code, answer.json()["reason"]) == (403, "ReadOnly")
        assert (skills / "s").read_text() == "skill"


async def test_a_full_disk(tmp_path: Path) -> None:
    """On a file system of its own, that is too small."""
    mount = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-ec")
    script = (
        f'mount -t tmpfs -o size=256k none {tmp_path}/files && mkdir {tmp_path}/files/workspace && exec "$@"'
    )
    async with (
        running_sandboxd(tmp_path, prefix=(*mount, script, "sh")) as sandboxd,
        sandboxd.local() as local,
    ):
        path = f"/v1/files?path={sandboxd.files}/workspace/f"
        assert (await local.put(path, content=b"old")).status_code == 200
        full = await local.put(path, content=b"x" * 1_000_000)
        assert (full.status_code, full.json()["reason"]) == (507, "NoSpace")
        # Room for the temporary file, none for its copy.
        half = await local.put(f"{path}&append=true", content=b"x" * 200_000)
        assert (half.status_code, half.json()["reason"]) == (507, "NoSpace")
        assert (await local.get(path)).content == b"old"
