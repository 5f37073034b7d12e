"""Images made from our own binaries, and images given as archives."""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import re
import tarfile
from collections.abc import Sequence
from pathlib import Path

from skerry_devcluster.cluster import Cluster
from skerry_devcluster.commands import run
from skerry_devcluster.errors import UsageError
from skerry_devcluster.namespaces import within

__all__ = ["ctr_command", "import_archives", "import_own_images", "imported_references", "write_archive"]

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def _file(name: str, data: bytes, mode: int = 0o644) -> tuple[tarfile.TarInfo, io.BytesIO]:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(data), mode
    return info, io.BytesIO(data)


def write_archive(out: Path, reference: str, program: Path, user: str) -> None:
    """A docker-archive of an image that holds one static program; the same bytes for the same input."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        tar.addfile(*_file(program.name, program.read_bytes(), 0o755))
    layer_name = hashlib.sha256(layer.getvalue()).hexdigest()
    config = json.dumps(
        {
            "architecture": _ARCHITECTURES.get(platform.machine(), platform.machine()),
            "os": "linux",
            "config": {"Entrypoint": [f"/{program.name}"], "User": user},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer_name}"]},
        }
    ).encode()
    config_name = f"{hashlib.sha256(config).hexdigest()}.json"
    manifest = [{"Config": config_name, "RepoTags": [reference], "Layers": [f"{layer_name}.tar"]}]
    temporary = out.with_name(f".{out.name}.{os.getpid()}")
    with tarfile.open(temporary, "w") as tar:
        tar.addfile(*_file(config_name, config))
        tar.addfile(*_file(f"{layer_name}.tar", layer.getvalue()))
        tar.addfile(*_file("manifest.json", json.dumps(manifest).encode()))
    temporary.replace(out)


def ctr_command(cluster: Cluster) -> list[str]:
    """`ctr` for this instance's containerd, in its namespaces."""
    ctr = [str(cluster.binaries["ctr"]), "-a", str(cluster.paths.containerd_socket), "-n", "k8s.io"]
    return [*within(cluster.paths, mounts=True), *ctr]


def import_own_images(cluster: Cluster) -> None:
    """The pause image and CoreDNS, unless containerd has this build's already."""
    present = set(run([*ctr_command(cluster), "images", "ls", "-q"]).split())
    for program, user in (("pause", "65535:65535"), ("coredns", "65532:65532")):
        reference = cluster.image(program)
        if reference not in present:
            archive = cluster.paths.run / f"{program}.tar"
            write_archive(archive, reference, cluster.binaries[program], user)
            run([*ctr_command(cluster), "images", "import", "--local", str(archive)])
            archive.unlink()


def imported_references(output: str) -> list[str]:
    """The references in what `ctr images import` prints."""
    return re.findall(r"^unpacking (\S+) ", output, re.MULTILINE)


def import_archives(cluster: Cluster, archives: Sequence[Path]) -> list[str]:
    """Load archives (docker or OCI) into containerd for the kubelet.

    Returns:
        the references that the archives named.

    Raises:
        UsageError: an archive does not exist.
        CommandError: containerd refuses it.
    """
    for archive in archives:
        if not archive.is_file():
            raise UsageError(f"{archive}: no such archive")
    loaded = []
    for archive in archives:
        output = run([*ctr_command(cluster), "images", "import", "--local", str(archive.resolve())])
        loaded += imported_references(output)
    return loaded
