"""Content keys: the same inputs give the same key, so that unchanged images are never built again."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable
from pathlib import Path

from images.specs import ROOT, ImageSpec

__all__ = ["digest", "image_key", "source_files", "wheels_key"]

RECIPE = 1
"""Raise it when the way of building changes what comes out."""
_IGNORED = {"__pycache__", ".mypy_cache", ".ruff_cache"}


def digest(*parts: str | bytes) -> str:
    """32 hex characters over length-prefixed parts: no two tuples share an encoding."""
    sha = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        sha.update(f"{len(data)}:".encode() + data)
    return sha.hexdigest()[:32]


def source_files(folder: Path) -> list[Path]:
    """Files that a wheel takes from the folder, sorted."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not _IGNORED & set(path.parts) and path.suffix != ".pyc"
    )


def _contents(root: Path, files: Iterable[Path]) -> list[str | bytes]:
    return [part for path in files for part in (path.relative_to(root).as_posix(), path.read_bytes())]


def wheels_key(lock: bytes, pip_lock: bytes, python: str, machine: str) -> str:
    return digest("wheels", lock, pip_lock, python, machine)


def image_key(spec: ImageSpec, base: str, *, root: Path = ROOT) -> str:
    """Key of the image of this checkout on that base (a base's key or reference)."""
    files = [
        root / "pyproject.toml",
        root / "hack/images/pip.txt",
        root / spec.folder / "Dockerfile",
        root / "requirements" / spec.lock,
    ]
    for folder in spec.sources:
        files += source_files(root / folder)
    return digest(str(RECIPE), spec.name, base, platform.machine(), *_contents(root, files))
