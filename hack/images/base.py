"""The base image where no image registry is at hand: a small Debian with Python, made by mmdebstrap."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from images.buildah import Buildah, BuildFailed
from images.cache import exclusive
from images.keys import digest
from images.specs import PLAIN_BASE
from images.steps import Steps

__all__ = ["base_reference", "ensure_base", "mmdebstrap_command"]

SUITE = "bookworm"
PYTHON = "3.11"
"""The suite's Python: wheels are fetched for it."""

_EXCLUDED = (
    "/usr/share/doc/*",
    "/usr/share/man/*",
    "/usr/share/locale/*",
    "/usr/share/i18n/*",
    "/usr/share/info/*",
)
_DOCKERFILE = """\
FROM scratch
ADD base.tar /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8
CMD ["/bin/bash"]
"""


def mmdebstrap_command(packages: Sequence[str], target: Path, mirror: str | None = None) -> list[str]:
    """The call that makes a tar of the base.

    `usr-is-merged` instead of `usrmerge` saves all of Perl's library (47 MB).
    """
    hooks = "/usr/share/mmdebstrap/hooks/merged-usr"
    return [
        "mmdebstrap",
        "--variant=essential",
        f"--hook-dir={hooks}",
        f"--include={','.join(('usr-is-merged', *PLAIN_BASE, *packages))}",
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in _EXCLUDED),
        "--dpkgopt=path-include=/usr/share/doc/*/copyright",
        '--aptopt=APT::Install-Recommends "false"',
        SUITE,
        str(target),
        *([mirror] if mirror else []),
    ]


def base_reference(packages: Sequence[str]) -> str:
    key = digest(_DOCKERFILE, *mmdebstrap_command(packages, Path("base.tar")))
    return f"localhost/skerry-base:{key[:12]}"


def ensure_base(buildah: Buildah, packages: Sequence[str], steps: Steps) -> str:
    """Reference of the base with these packages, made if the storage lacks it."""
    reference = base_reference(packages)
    if buildah.has(reference):
        return reference
    if shutil.which("mmdebstrap") is None:
        raise BuildFailed("mmdebstrap is not installed (Debian: mmdebstrap); or name a base with --base")
    what = "base of Debian" + (f" with {' '.join(packages)}" if packages else "")
    with exclusive(reference.replace("/", "-")):
        if buildah.has(reference):
            return reference
        with steps.step("base", what), tempfile.TemporaryDirectory(prefix="skerry-base-") as folder:
            context = Path(folder)
            _make_tar(packages, context / "base.tar")
            (context / "Dockerfile").write_text(_DOCKERFILE)
            buildah.build(context, context / "Dockerfile", reference)
    return reference


def _make_tar(packages: Sequence[str], target: Path) -> None:
    mirror = os.environ.get("SKERRY_DEBIAN_MIRROR")
    # One time for all files: the same packages give the same layer.
    environment = os.environ | {"SOURCE_DATE_EPOCH": "0"}
    done = subprocess.run(
        mmdebstrap_command(packages, target, mirror),
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise BuildFailed("mmdebstrap failed:\n" + "\n".join(done.stderr.strip().splitlines()[-25:]))
