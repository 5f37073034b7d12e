"""Wheels for an image, fetched outside of it and checked against the lock file's hashes."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

from images.base import PYTHON
from images.buildah import BuildFailed
from images.cache import cache_dir, fill_once
from images.keys import wheels_key
from images.specs import ROOT, ImageSpec
from images.steps import Steps

__all__ = ["build_own_wheel", "download_command", "ensure_wheels"]

PIP_LOCK = ROOT / "hack/images/pip.txt"
# pip takes only the tags that it is told: all of those that the base's glibc (2.36) runs.
_GLIBC = ("2_36", "2_34", "2_31", "2_28", "2_27", "2_24", "2_17", "2_12", "2_5")


def download_command(lock: Path, target: Path, *, python: str, machine: str) -> list[str]:
    """Pip's call for wheels that run in the image, whatever Python and system this is."""
    short = python.replace(".", "")
    platforms = [f"manylinux_{version}_{machine}" for version in _GLIBC] + [f"manylinux2014_{machine}"]
    return [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *("--require-hashes", "--no-deps", "--only-binary=:all:", "--implementation=cp"),
        *(f"--python-version={python}", f"--abi=cp{short}", "--abi=abi3", "--abi=none"),
        *(f"--platform={name}" for name in platforms),
        *("--requirement", str(lock), "--dest", str(target)),
    ]


def ensure_wheels(spec: ImageSpec, steps: Steps) -> Path:
    """Folder with the wheels of the image's lock file, and pip's own; fetched once per lock file."""
    machine = platform.machine()
    key = wheels_key(spec.lock_file.read_bytes(), PIP_LOCK.read_bytes(), PYTHON, machine)
    target = cache_dir() / "wheels" / key
    with fill_once(target) as fresh:
        if fresh is not None:
            with steps.step(f"wheels-{spec.name}", f"{spec.name}: fetching wheels"):
                for lock, folder in ((spec.lock_file, fresh / "wheels"), (PIP_LOCK, fresh / "pip")):
                    _run(download_command(lock, folder, python=PYTHON, machine=machine), "fetching wheels")
    return target


def build_own_wheel(target: Path, *, root: Path = ROOT) -> None:
    """Builds this checkout's wheel into the folder; offline."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(target)]
    _run(command, "building the wheel", cwd=root)


def _run(command: list[str], what: str, cwd: Path | None = None) -> None:
    environment = os.environ | {"SOURCE_DATE_EPOCH": "315532800"}  # 1980, the first year a zip knows
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        said = "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])
        raise BuildFailed(f"{what} failed:\n{said}")
