"""What each image is made of. Data only."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

__all__ = ["IMAGES", "PLAIN_BASE", "ROOT", "ImageSpec", "packages_of", "spec_of"]

ROOT = Path(__file__).resolve().parents[2]
PLAIN_BASE = ("python3", "ca-certificates", "libstdc++6")
"""Debian packages beyond the essential ones in every base. Wheels in C++ (frozenlist, grpcio) expect its library."""

_PACKAGES = re.compile(r'^ARG PACKAGES="([^"]*)"$', re.MULTILINE)


@dataclass(frozen=True)
class ImageSpec:
    """One image: its Dockerfile, its lock file, and the folders whose change makes it another image."""

    name: str
    folder: str
    sources: tuple[str, ...]
    lock: str
    base_packages: tuple[str, ...] = ()
    """What its base gets beyond the Dockerfile's `ARG PACKAGES`, where the base is made here."""

    @property
    def repository(self) -> str:
        return f"skerry-{self.name}"

    @property
    def dockerfile(self) -> Path:
        return ROOT / self.folder / "Dockerfile"

    @property
    def lock_file(self) -> Path:
        return ROOT / "requirements" / self.lock


IMAGES: dict[str, ImageSpec] = {
    spec.name: spec
    for spec in (
        ImageSpec("operator", "operator", ("api/skerry_api", "operator/skerry_operator"), "operator.txt"),
        ImageSpec("runner", "runner", ("api/skerry_api", "runner/skerry_runner"), "runner.txt"),
        ImageSpec(
            "sandbox",
            "sandbox",
            ("api/skerry_api", "sandbox/skerry_sandboxd"),
            "sandboxd.txt",
            base_packages=("python3-venv",),  # python:slim has it without a package
        ),
    )
}


def spec_of(name: str, *, providers: bool = False) -> ImageSpec:
    """The image of this name; with `providers` a runner that holds the packages of every provider of models."""
    spec = IMAGES[name]
    return replace(spec, lock="runner-providers.txt") if providers and name == "runner" else spec


def packages_of(dockerfile: str) -> tuple[str, ...]:
    """Debian packages that a Dockerfile's `ARG PACKAGES="…"` asks of its base, in order; none without the line."""
    found = _PACKAGES.search(dockerfile)
    return tuple(found.group(1).split()) if found else ()
