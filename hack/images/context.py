"""The build context of an image: lock file, wheels, pip and our own wheel. `docker build` takes it as it is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from images.specs import ImageSpec
from images.steps import Steps
from images.wheels import build_own_wheel, ensure_wheels

__all__ = ["make_context"]


def make_context(spec: ImageSpec, target: Path, steps: Steps) -> None:
    """Fills the (new or empty) folder; wheels are hard links where that works.

    Raises:
        FileExistsError: the folder holds something.
    """
    if target.exists() and any(target.iterdir()):
        raise FileExistsError(f"{target} is not empty")
    target.mkdir(parents=True, exist_ok=True)
    cached = ensure_wheels(spec, steps)
    for folder in ("wheels", "pip"):
        shutil.copytree(cached / folder, target / folder, copy_function=_link)
    (target / "requirements.txt").write_bytes(spec.lock_file.read_bytes())
    build_own_wheel(target / "dist")
    # Layer caches look at times too: only content may count.
    for path in target.rglob("*"):
        if not path.is_symlink() and path.stat().st_nlink == 1:
            os.utime(path, (0, 0))


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
        shutil.copystat(source, target)
