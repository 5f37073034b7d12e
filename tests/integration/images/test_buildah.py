"""The real buildah in a storage of its own: what the builder takes for granted."""

from __future__ import annotations

import json
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from images.__main__ import install_tools
from images.build import KEPT, forget_old
from images.buildah import Buildah, BuildFailed
from images.specs import IMAGES

REFERENCE = "localhost/skerry-test:1"


@pytest.fixture(scope="session", autouse=True)
def tools() -> None:
    install_tools(base=False)


@pytest.fixture
def buildah(tmp_path: Path) -> Iterator[Buildah]:
    store = Buildah(tmp_path / "store")
    yield store
    store.run("rmi", "--all", "--force")
    for mount in sorted(_mounts_below(tmp_path), reverse=True):
        subprocess.run(["umount", mount], check=True)


def _mounts_below(folder: Path) -> list[str]:
    lines = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    return [line.split()[1] for line in lines if line.split()[1].startswith(f"{folder}/")]


@pytest.fixture
def context(tmp_path: Path) -> Path:
    folder = tmp_path / "context"
    folder.mkdir()
    (folder / "Dockerfile").write_text(
        'FROM scratch\nCOPY hello /hello\nUSER 10001:10001\nENTRYPOINT ["/hello"]\n'
    )
    (folder / "hello").write_text("hello")
    return folder


def _build(buildah: Buildah, context: Path) -> str:
    buildah.build(context, context / "Dockerfile", REFERENCE)
    (image,) = [each for each in buildah.images() if REFERENCE in (each["names"] or [])]
    return str(image["id"])


def test_an_image_is_there_once_it_is_built(buildah: Buildah, context: Path) -> None:
    assert not buildah.has(REFERENCE)
    _build(buildah, context)
    assert buildah.has(REFERENCE)
    assert "B" in str(buildah.size(REFERENCE))
    buildah.remove(REFERENCE)
    assert not buildah.has(REFERENCE)


def test_the_same_context_is_the_same_image(buildah: Buildah, context: Path, tmp_path: Path) -> None:
    first = _build(buildah, context)
    other = Buildah(tmp_path / "other")
    assert _build(other, context) == first
    other.run("rmi", "--all", "--force")
    (context / "hello").write_text("changed")
    assert _build(buildah, context) != first


def test_an_archive_holds_name_user_and_files(buildah: Buildah, context: Path, tmp_path: Path) -> None:
    _build(buildah, context)
    archive = tmp_path / "image.tar"
    buildah.push(REFERENCE, f"docker-archive:{archive}:{REFERENCE}")
    with tarfile.open(archive) as tar:
        (manifest,) = json.load(tar.extractfile("manifest.json"))  # type: ignore[arg-type]  # a file, not a folder
        config = json.load(tar.extractfile(manifest["Config"]))  # type: ignore[arg-type]
    assert manifest["RepoTags"] == [REFERENCE]
    assert config["config"]["User"] == "10001:10001"


def test_a_failed_build_says_what_buildah_said(buildah: Buildah, context: Path) -> None:
    (context / "Dockerfile").write_text("FROM scratch\nCOPY missing /x\n")
    with pytest.raises(BuildFailed, match="missing"):
        _build(buildah, context)


def test_a_base_of_ours_is_never_pulled(buildah: Buildah, context: Path) -> None:
    (context / "Dockerfile").write_text("ARG BASE\nFROM ${BASE}\n")
    with pytest.raises(BuildFailed, match="skerry-base"):
        buildah.build(context, context / "Dockerfile", REFERENCE, base="localhost/skerry-base:none")


def test_an_unknown_driver_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKERRY_BUILDAH_DRIVER", "floppy")
    with pytest.raises(BuildFailed, match="floppy"):
        Buildah(tmp_path / "store").has(REFERENCE)


def test_a_build_that_fails_leaves_no_container_and_no_mount(
    buildah: Buildah, context: Path, tmp_path: Path
) -> None:
    _build(buildah, context)
    before = _mounts_below(tmp_path / "store" / "root" / "overlay")
    (context / "Dockerfile").write_text("FROM scratch\nCOPY hello /hello\nCOPY missing /missing\n")
    with pytest.raises(BuildFailed, match="missing"):
        buildah.build(context, context / "Dockerfile", REFERENCE)
    assert buildah.run("containers", "-q") == ""
    assert _mounts_below(tmp_path / "store" / "root" / "overlay") == before


def test_old_images_are_forgotten_but_for_those_that_a_killed_build_still_holds(
    buildah: Buildah, context: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = [f"localhost/skerry-sandbox:{number}" for number in range(KEPT + 3)]
    for age, name in enumerate(made):
        (context / "hello").write_text(name)
        buildah.build(context, context / "Dockerfile", name)
        if age == 0:
            buildah.run("from", name)
        forget_old(IMAGES["sandbox"], buildah, name)
    left = {name for image in buildah.images() for name in image.get("names") or []}
    assert left & set(made[1:]) == set(made[-KEPT:])
    buildah.run("rm", "--all")
