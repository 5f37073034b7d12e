"""Building, pushing and archiving: each a no-op when its result is there already."""

from __future__ import annotations

import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from images.base import base_reference, ensure_base
from images.buildah import Buildah
from images.cache import cache_dir, exclusive
from images.context import make_context
from images.keys import image_key
from images.registry import pushed_digest
from images.specs import ImageSpec, packages_of
from images.steps import Steps

__all__ = ["KEPT", "Image", "archive", "build", "forget_old", "push"]

KEPT = 4
"""Images of one kind that stay in the storage; older ones go when a new one is built."""


@dataclass(frozen=True)
class Image:
    """A built image. `reference` is its name in the storage; the tag is the hash of everything it was made of."""

    name: str
    repository: str
    tag: str
    reference: str
    size: str
    built: bool
    digest: str | None = None
    pushed: str | None = None
    archive: str | None = None

    def as_dict(self) -> dict[str, object]:
        return {key: value for key, value in asdict(self).items() if value is not None}


def build(spec: ImageSpec, buildah: Buildah, steps: Steps, base: str | None = None) -> Image:
    """The image of this checkout; `base` is a reference that buildah can pull, else a base is made here."""
    packages = (*packages_of(spec.dockerfile.read_text()), *spec.base_packages)
    tag = image_key(spec, base or base_reference(packages))[:12]
    reference = f"localhost/{spec.repository}:{tag}"
    size, built = buildah.size(reference), False
    if size is None:
        with exclusive(f"image-{spec.name}"):
            size = buildah.size(reference)
            if size is None:
                _build(spec, buildah, steps, base or ensure_base(buildah, packages, steps), reference)
                forget_old(spec, buildah, reference)
                size, built = str(buildah.size(reference)), True
    return Image(spec.name, spec.repository, tag, reference, size, built)


def _build(spec: ImageSpec, buildah: Buildah, steps: Steps, base: str, reference: str) -> None:
    contexts = cache_dir() / "contexts"  # beside the wheels, so that they can be linked
    contexts.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=contexts, prefix=f"{spec.name}-") as folder:
        context = Path(folder)
        make_context(spec, context, steps)
        with steps.step(f"build-{spec.name}", f"{spec.name}: building"):
            buildah.build(context, spec.dockerfile, reference, base=base)


def forget_old(spec: ImageSpec, buildah: Buildah, newest: str) -> None:
    """Creation times inside images are all the same, so the order of building stands in files of ours."""
    marks = cache_dir() / "images"
    marks.mkdir(exist_ok=True)

    def mark(name: str) -> Path:
        return marks / name.replace("/", "_")

    mark(newest).touch()
    ours = [
        name
        for image in buildah.images()
        for name in image.get("names") or []
        if name.startswith(f"localhost/{spec.repository}:")
    ]
    ages = {name: mark(name).stat().st_mtime if mark(name).exists() else 0.0 for name in ours}
    for name in sorted(ours, key=ages.__getitem__, reverse=True)[KEPT:]:
        if buildah.remove(name):
            mark(name).unlink(missing_ok=True)


def push(image: Image, buildah: Buildah, steps: Steps, address: str, *, tls: bool = False) -> Image:
    """Pushes to `address/skerry-NAME:TAG` unless it is there; `address` may hold a path."""
    pushed = f"{address}/{image.repository}:{image.tag}"
    digest = None if tls else pushed_digest(address, image.repository, image.tag)
    if digest is None:
        with (
            tempfile.TemporaryDirectory() as folder,
            steps.step(f"push-{image.name}", f"{image.name}: pushing"),
        ):
            said = Path(folder) / "digest"
            buildah.push(image.reference, f"docker://{pushed}", said, tls_verify=tls)
            digest = said.read_text().strip()
    return Image(**(asdict(image) | {"digest": digest, "pushed": pushed}))


def archive(image: Image, buildah: Buildah, steps: Steps, folder: Path) -> Image:
    """Writes `skerry-NAME-TAG.tar` (docker-archive) unless it is there; inside, its name is `reference`."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{image.repository}-{image.tag}.tar"
    if not target.exists():
        with (
            exclusive(f"archive-{image.name}"),
            steps.step(f"archive-{image.name}", f"{image.name}: archiving"),
        ):
            partial = folder / f".{target.name}.{os.getpid()}"
            partial.unlink(missing_ok=True)
            buildah.push(image.reference, f"docker-archive:{partial}:{image.reference}")
            partial.replace(target)
    return Image(**(asdict(image) | {"archive": str(target)}))
