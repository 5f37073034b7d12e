"""Helm as the embedded build brings it, and what a chart renders to."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from skerry_testing.controlplane import DEV, ROOT, ControlPlane

__all__ = ["CHART", "CRDS_CHART", "Helm", "HelmError", "Rendered"]

CHART = ROOT / "charts" / "skerry"
CRDS_CHART = ROOT / "charts" / "skerry-crds"
HELM_ENV = "SKERRY_TEST_HELM"
"""A helm to use instead of the embedded one."""


class HelmError(Exception):
    """Helm said no; the message is what it said."""


@dataclass(frozen=True)
class Rendered:
    """The objects of a rendering."""

    objects: tuple[dict[str, Any], ...]

    def one(self, kind: str, name: str, namespace: str | None = None) -> dict[str, Any]:
        """The only object of that kind and name. Raises LookupError listing what is there."""
        found = [
            each
            for each in self.objects
            if (each["kind"], each["metadata"]["name"]) == (kind, name)
            and namespace in {None, each["metadata"].get("namespace")}
        ]
        if len(found) != 1:
            there = sorted(f"{each['kind']}/{each['metadata']['name']}" for each in self.objects)
            raise LookupError(f"{len(found)} of {kind}/{name} among {there}")
        return found[0]

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        return [each for each in self.objects if each["kind"] == kind]


@dataclass(frozen=True)
class Helm:
    """Runs helm against a cluster, as its admin."""

    program: str
    kubeconfig: Path

    @classmethod
    def on(cls, plane: ControlPlane) -> Helm:
        program = os.environ.get(HELM_ENV)
        if program is None:
            command = [
                str(DEV),
                "status",
                "-o",
                "json",
                *(["--name", plane.instance] if plane.instance else []),
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            program = str(json.loads(done.stdout)["helm"])
        return cls(program, plane.access.kubeconfig)

    def run(self, *arguments: str | Path, values: Mapping[str, Any] | None = None) -> str:
        """Its standard output; `values` go in as a values file."""
        command = [self.program, "--kubeconfig", str(self.kubeconfig), *map(str, arguments)]
        given = None
        if values is not None:
            command += ["--values", "-"]
            given = json.dumps(values)
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
        if done.returncode:
            raise HelmError(done.stderr.strip() or done.stdout.strip())
        return done.stdout

    def template(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        release: str = "skerry",
        namespace: str = "skerry-system",
    ) -> Rendered:
        """Rendered without a cluster; the API server's addresses are given."""
        all_values = {"apiServer": {"cidrs": ["192.0.2.1/32"]}, **(values or {})}
        text = self.run("template", release, CHART, "--namespace", namespace, values=all_values)
        return Rendered(tuple(each for each in yaml.safe_load_all(text) if each))
