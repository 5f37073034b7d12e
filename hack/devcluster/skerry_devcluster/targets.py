"""What is built, from what, and the key under which the result is cached. Pure but for reading sources."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["TARGETS", "Target", "TargetName", "build_key", "required_go", "source_hashes"]

_VERSION = "k8s.io/component-base/version"
_CONTAINERD = "github.com/containerd/containerd/v2"


@dataclass(frozen=True)
class Target:
    """One build: `packages` of the Go module in `module`, or a C file if `c_source` is set.

    `links` are the names under which one combined binary also goes.
    """

    name: str
    module: str
    binaries: tuple[str, ...]
    packages: tuple[str, ...] = ()
    cgo: bool = False
    tags: str = ""
    ldflags: str = "-s -w"
    links: tuple[str, ...] = ()
    c_source: str = ""


TargetName = str
TARGETS: dict[TargetName, Target] = {
    target.name: target
    for target in (
        Target(
            name="node",
            module="node",
            packages=("./cmd/skerry-node",),
            binaries=("skerry-node",),
            ldflags=(
                f"-s -w -X {_VERSION}.gitVersion=v1.37.2 -X {_VERSION}.gitMajor=1 -X {_VERSION}.gitMinor=37"
                f" -X {_VERSION}.gitTreeState=clean -X {_VERSION}.gitCommit=module"
                f" -X {_VERSION}.buildDate=2026-01-01T00:00:00Z -X helm.sh/helm/v4/internal/version.version=v4.3.2"
            ),
            links=(
                "etcd",
                "kube-apiserver",
                "kube-controller-manager",
                "kube-scheduler",
                "kubelet",
                "kube-proxy",
                "kube-network-policies",
                "kubectl",
                "helm",
            ),
        ),
        Target(name="coredns", module="node", packages=("./cmd/coredns",), binaries=("coredns",)),
        Target(
            name="containerd",
            module="containerd",
            packages=tuple(
                f"{_CONTAINERD}/cmd/{name}" for name in ("containerd", "containerd-shim-runc-v2", "ctr")
            ),
            binaries=("containerd", "containerd-shim-runc-v2", "ctr"),
            tags="no_btrfs no_zfs no_devmapper no_aufs no_tracing",
            ldflags=f"-s -w -X {_CONTAINERD}/version.Version=v2.4.2",
        ),
        Target(
            name="runc",
            module="runc",
            packages=("github.com/opencontainers/runc",),
            binaries=("runc",),
            cgo=True,
            tags="seccomp",
            ldflags="-s -w -X main.version=1.5.3",
        ),
        # No part of a cluster: tests of the guardrail ask it. Without OCI registries, which nobody here reads bundles from.
        Target(name="opa", module="opa", packages=(".",), binaries=("opa",), tags="opa_no_oci"),
        Target(name="pause", module="pause", binaries=("pause",), c_source="pause.c"),
    )
}


def source_hashes(module: Path) -> dict[str, str]:
    """SHA-256 of every source of a module, by its path in it."""
    wanted = {".go", ".mod", ".sum", ".c"}
    return {
        str(path.relative_to(module)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(module.rglob("*"))
        if path.suffix in wanted and not path.name.endswith("_test.go")
    }


def build_key(target: Target, sources: dict[str, str], toolchain: str, machine: str) -> str:
    """16 hex digits; changes with anything that could change the result."""
    inputs = {"target": asdict(target), "sources": sources, "toolchain": toolchain, "machine": machine}
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()[:16]


def required_go(modules: Iterable[str]) -> tuple[int, int, int]:
    """The newest version that any of these go.mod texts asks for."""
    versions = []
    for text in modules:
        for line in text.splitlines():
            words = line.split()
            if len(words) == 2 and words[0] == "go":
                major, minor, *patch = (int(part) for part in words[1].split("."))
                versions.append((major, minor, patch[0] if patch else 0))
    return max(versions)
