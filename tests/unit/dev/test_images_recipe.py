"""What is asked of mmdebstrap and pip, and what the Dockerfiles promise."""

from __future__ import annotations

from pathlib import Path

import pytest

from images.base import base_reference, mmdebstrap_command
from images.specs import IMAGES, packages_of
from images.wheels import PIP_LOCK, download_command
from skerry_api.sandboxd_api import DEFAULT_PORT

MODULES = {"operator": "skerry_operator", "runner": "skerry_runner", "sandbox": "skerry_sandboxd"}


def test_the_base_has_python_and_what_is_asked_for() -> None:
    command = mmdebstrap_command(("curl", "jq"), Path("t.tar"))
    (include,) = [part.removeprefix("--include=") for part in command if part.startswith("--include=")]
    assert {"python3", "ca-certificates", "libstdc++6", "curl", "jq"} <= set(include.split(","))
    assert "usrmerge" not in include.split(",")
    assert command[-1] == "t.tar"
    assert (
        mmdebstrap_command((), Path("t.tar"), "http://mirror.example/debian")[-1]
        == "http://mirror.example/debian"
    )


def test_other_packages_are_another_base() -> None:
    assert len({base_reference(()), base_reference(("curl",)), base_reference(("jq",))}) == 3


def test_packages_stand_in_the_dockerfile() -> None:
    assert packages_of('ARG BASE=x\nARG PACKAGES="a b c"\nFROM x\n') == ("a", "b", "c")
    assert packages_of("FROM x\nARG PACKAGES\n") == ()
    assert {"curl", "procps"} <= set(packages_of(IMAGES["sandbox"].dockerfile.read_text()))


def test_wheels_are_binary_checked_and_for_the_images_python() -> None:
    command = download_command(Path("lock.txt"), Path("out"), python="3.11", machine="aarch64")
    assert {
        "--require-hashes",
        "--no-deps",
        "--only-binary=:all:",
        "--python-version=3.11",
        "--abi=cp311",
    } <= set(command)
    platforms = [part for part in command if part.startswith("--platform=")]
    assert platforms
    assert all(part.endswith("_aarch64") for part in platforms)


def test_pip_is_pinned_with_its_hash() -> None:
    text = PIP_LOCK.read_text()
    assert text.startswith("pip==")
    assert text.count("--hash=sha256:") == 1


@pytest.mark.parametrize("name", sorted(IMAGES))
def test_dockerfiles_keep_their_promises(name: str) -> None:
    text = IMAGES[name].dockerfile.read_text()
    final = text.split("\nFROM ")[-1]
    assert text.count("ARG BASE=python:3.11-slim") == 1
    assert "USER 10001:10001" in final
    assert f'ENTRYPOINT ["/opt/skerry/bin/python", "-m", "{MODULES[name]}"]' in final
    assert "--require-hashes" in text
    assert "/build/" not in final  # no wheel, no pip, no tool of the build
    # Byte code that is checked by time would never be used: an image has one time for all files.
    assert text.count("compileall") == text.count("unchecked-hash") == 2
    others = {module for other, module in MODULES.items() if other != name} | {"skerry_cli"}
    (removal,) = [line for line in text.splitlines() if "rm -rf /app/" in line]
    assert {
        part.removeprefix("/app/") for part in removal.split() if part.startswith("/app/skerry")
    } == others


def test_the_port_is_sandboxds() -> None:
    assert f"EXPOSE {DEFAULT_PORT}" in IMAGES["sandbox"].dockerfile.read_text()
