"""buildah with a storage of our own: the machine's own images are neither seen nor touched."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from images.cache import cache_dir

__all__ = ["BuildFailed", "Buildah"]


class BuildFailed(Exception):
    """A tool that a build needs failed; the message holds the end of what it said."""


@dataclass(frozen=True)
class Buildah:
    """Every call goes to one storage folder; containers/storage locks it, so two builds may run at once."""

    folder: Path

    @classmethod
    def default(cls) -> Buildah:
        return cls(cache_dir() / "buildah")

    @cached_property
    def driver(self) -> str:
        """`overlay` where the kernel and file system have it, else `vfs` (slower, larger); never changed later."""
        chosen = self.folder / "driver"
        if not chosen.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            wanted = os.environ.get("SKERRY_BUILDAH_DRIVER")
            drivers = [wanted] if wanted else ["overlay", "vfs"]
            for driver in drivers:
                if self._call(driver, ["images", "-q"]).returncode == 0:
                    chosen.write_text(driver)
                    break
            else:
                raise BuildFailed(f"buildah: none of the storage drivers {', '.join(drivers)} works here")
        return chosen.read_text()

    def _call(self, driver: str, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        if shutil.which("buildah") is None:
            raise BuildFailed("buildah is not installed (Debian: buildah)")
        store = ["--root", self.folder / "root", "--runroot", self.folder / "run", "--storage-driver", driver]
        return subprocess.run(
            ["buildah", *map(str, store), *arguments], capture_output=True, text=True, check=False
        )

    def run(self, *arguments: str) -> str:
        """Its standard output; raises BuildFailed with the last lines of its error output."""
        done = self._call(self.driver, arguments)
        if done.returncode:
            said = "\n".join((done.stdout + done.stderr).strip().splitlines()[-25:])
            raise BuildFailed(f"buildah {arguments[0]} failed ({done.returncode}):\n{said}")
        return done.stdout

    def images(self) -> list[dict[str, Any]]:
        """What the storage holds, as `buildah images --json` says."""
        return list(json.loads(self.run("images", "--json") or "[]") or [])

    def size(self, reference: str) -> str | None:
        """Of all its layers, unpacked, in words such as `103 MB`; None if the storage does not hold it."""
        done = self._call(self.driver, ["images", "--json", reference])
        if done.returncode and "not known" in done.stderr:
            return None
        if done.returncode:
            raise BuildFailed(f"buildah images failed ({done.returncode}):\n{done.stderr.strip()}")
        return str(json.loads(done.stdout)[0]["size"])

    def has(self, reference: str) -> bool:
        return self.size(reference) is not None

    def build(self, context: Path, dockerfile: Path, reference: str, *, base: str | None = None) -> None:
        """Times in the image are fixed, so the same context gives the same image."""
        ours = base is None or base.startswith("localhost/")
        self.run(
            "bud",
            "--isolation=chroot",
            "--network=host",  # the only one that chroot isolation takes; pip inside has --no-index
            "--pull=never" if ours else "--pull=true",
            "--timestamp=0",
            "--layers",
            "--force-rm",  # a build that fails leaves no container, and so no mount
            *([] if base is None else [f"--build-arg=BASE={base}"]),
            f"--tag={reference}",
            f"--file={dockerfile}",
            str(context),
        )

    def push(
        self, reference: str, target: str, digest_file: Path | None = None, *, tls_verify: bool = True
    ) -> None:
        """`target` with transport: `docker://…` or `docker-archive:…`; an archive never replaces a file."""
        options = [f"--tls-verify={str(tls_verify).lower()}"]
        if not tls_verify:
            # A neighbour: packing takes longer than the way there.
            options += ["--compression-format=zstd", "--compression-level=1"]
        if digest_file is not None:
            options.append(f"--digestfile={digest_file}")
        self.run("push", "-q", *options, reference, target)

    def remove(self, reference: str) -> bool:
        """Whether it is gone. One that a container of a killed build still uses stays, and hinders nobody."""
        return self._call(self.driver, ["rmi", reference]).returncode == 0
