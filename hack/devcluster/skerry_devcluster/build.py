"""Building the cluster's binaries once per change of their inputs.

Results lie in the cache as `bin/<target>-<key>/`. A build goes to a
temporary name and is renamed when whole, so a kill leaves nothing that looks
finished; one lock keeps two builds from doing the work twice.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from skerry_devcluster.commands import which
from skerry_devcluster.errors import BuildError
from skerry_devcluster.layout import SOURCES, Layout
from skerry_devcluster.locks import held, locked
from skerry_devcluster.packages import BUILD_C, ensure_packages
from skerry_devcluster.progress import Progress
from skerry_devcluster.targets import TARGETS, Target, build_key, required_go, source_hashes
from skerry_devcluster.toolchain import Toolchain, find_go, present_go

__all__ = ["binaries", "build"]

_KEEP_UNUSED = 14 * 24 * 3600.0
_COLD_BUILD_BYTES = 8 * 1024**3


def _places(names: Iterable[str], toolchain: Toolchain, layout: Layout) -> dict[str, Path]:
    """Where each target's result lies or will lie."""
    places = {}
    for name in names:
        target = TARGETS[name]
        version = "gcc" if target.c_source else toolchain.version
        key = build_key(target, source_hashes(SOURCES / target.module), version, platform.machine())
        places[name] = layout.binaries / f"{name}-{key}"
    return places


def build(names: Sequence[str], layout: Layout, progress: Progress) -> dict[str, Path]:
    """Directories of the built targets, built where the cache lacks them.

    Raises:
        BuildError: with the end of the compiler's output and the log's path.
    """
    layout.cache.mkdir(parents=True, exist_ok=True)
    required = required_go(path.read_text() for path in sorted(SOURCES.glob("*/go.mod")))
    toolchain = present_go(required, layout.cache)
    if toolchain:
        places = _places(names, toolchain, layout)
        if all(place.is_dir() for place in places.values()):
            for place in places.values():
                os.utime(place)  # so that it is not pruned
            return places
    with locked(layout.build_lock, lambda who: progress.say(f"waiting for another build (pid {who})")):
        cold = not layout.go_cache.exists()
        toolchain = find_go(required, layout.cache, progress)
        places = _places(names, toolchain, layout)
        for name, place in places.items():
            if not place.is_dir():
                _build(TARGETS[name], place, toolchain, layout, progress, cold=cold)
        return places


def binaries(found: Mapping[str, Path]) -> dict[str, Path]:
    """Every binary and link of built targets by its name."""
    return {
        name: place / name
        for target, place in found.items()
        for name in (*TARGETS[target].binaries, *TARGETS[target].links)
    }


def _command(target: Target, out: Path, toolchain: Toolchain) -> list[str]:
    if target.c_source:
        return ["gcc", "-Os", "-static", "-s", "-o", str(out / target.binaries[0]), target.c_source]
    tags = ["-tags", target.tags] if target.tags else []
    return [
        *(str(toolchain.go), "build", "-p", str(os.cpu_count() or 2), "-trimpath"),
        *tags,
        *("-ldflags", target.ldflags, "-o", f"{out}/", *target.packages),
    ]


def _environment(target: Target, layout: Layout) -> dict[str, str]:
    own = {
        "GOCACHE": str(layout.go_cache),
        "GOFLAGS": "-buildvcs=false -mod=readonly",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        "CGO_ENABLED": "1" if target.cgo else "0",
        "CGO_CFLAGS": "-O2",
        "CGO_LDFLAGS": "",
    }
    return {**os.environ, **own}


def _build(
    target: Target, place: Path, toolchain: Toolchain, layout: Layout, progress: Progress, *, cold: bool
) -> None:
    if target.cgo or target.c_source:
        ensure_packages(BUILD_C, progress)
    if cold and target.packages and (free := shutil.disk_usage(layout.cache).free) < _COLD_BUILD_BYTES:
        raise BuildError(f"{layout.cache}: a first build needs 8 GiB, {free / 1024**3:.1f} GiB are free")
    name = f"build {target.name}{' (cold)' if cold and target.packages else ''}"
    layout.binaries.mkdir(parents=True, exist_ok=True)
    for stale in layout.binaries.glob(".tmp-*"):  # the lock is ours: nobody is writing these any more
        shutil.rmtree(stale, ignore_errors=True)
    out = layout.binaries / f".tmp-{place.name}"
    out.mkdir()
    log = layout.cache / f"build-{target.name}.log"
    with progress.step(name, announce=True):
        command = _command(target, out, toolchain)
        with log.open("wb") as output:
            process = subprocess.Popen(
                [which(command[0]) or command[0], *command[1:]],
                cwd=SOURCES / target.module,
                env=_environment(target, layout),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=held(),
            )
            try:
                code = progress.wait(name, process)
            except BaseException:
                process.kill()
                process.wait()
                raise
        if code:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
            raise BuildError(f"{name}: exit {code} (whole log: {log})\n{tail}")
        for link in target.links:
            (out / link).symlink_to(target.binaries[0])
        out.rename(place)
    _prune(target, place, layout.binaries)


def _prune(target: Target, keep: Path, root: Path) -> None:
    """Drop this target's builds that nothing used for two weeks."""
    oldest = time.time() - _KEEP_UNUSED
    for place in root.glob(f"{target.name}-*"):
        if place != keep and place.stat().st_mtime < oldest:
            shutil.rmtree(place, ignore_errors=True)
