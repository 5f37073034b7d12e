"""Images into the cluster, charts onto it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from demo.target import ROOT, DemoFailed, Target
from images.steps import Steps

__all__ = ["SYSTEM", "chart_values", "deliver_images", "install"]

SYSTEM = "skerry-system"
IMAGES = ROOT / "hack" / "skerry-images"


def deliver_images(target: Target) -> dict[str, dict[str, Any]]:
    """Builds what has changed and brings it where the cluster finds it; what `skerry-images -o json` said."""
    if target.registry_push:
        return _build("--push", target.registry_push, *(["--tls"] if target.tls else []))
    with tempfile.TemporaryDirectory(prefix="skerry-images-") as folder:
        made = _build("--archive", folder)
        for each in made.values():
            target.run(target.loader or (), str(Path(folder) / Path(each["archive"]).name))
        return made


def _build(*options: str) -> dict[str, dict[str, Any]]:
    command = [str(IMAGES), "build", "-o", "json", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=sys.stderr, text=True, check=False)
    if done.returncode:
        raise DemoFailed("the images could not be built or delivered; see above")
    made: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return made


def chart_values(target: Target, images: dict[str, dict[str, Any]], namespace: str) -> dict[str, Any]:
    """Values for the chart: the images just delivered, one namespace for runs."""
    return {
        "images": {
            "registry": target.registry_pull,
            **{name: {"tag": image["tag"]} for name, image in images.items()},
        },
        "runNamespaces": [{"name": namespace, "create": True}],
        "clusterCIDRs": list(target.cluster_cidrs),
    }


def install(
    target: Target,
    images: dict[str, dict[str, Any]],
    namespace: str,
    steps: Steps,
    more: Mapping[str, Any] | None = None,
) -> None:
    """Both charts, again and again without harm; returns when the operator is ready. `more` wins over our own values."""
    common = ("--namespace", SYSTEM, "--create-namespace", "--wait", "--timeout", "5m")
    with steps.step("charts", "installing the charts; the operator starts"):
        target.run(
            target.helm, "upgrade", "--install", "skerry-crds", str(ROOT / "charts/skerry-crds"), *common
        )
        values = json.dumps({**chart_values(target, images, namespace), **(more or {})})
        try:
            target.run(
                target.helm,
                *("upgrade", "--install", "skerry", str(ROOT / "charts/skerry"), *common, "--values", "-"),
                given=values,
            )
        except DemoFailed as error:
            raise DemoFailed(f"{error}\n{_why(target)}") from error


def _why(target: Target) -> str:
    """What the operator's Pods say, for whoever has to find out."""
    told = []
    for arguments in (
        ("get", "pods", "-o", "wide"),
        ("get", "events", "--sort-by=.lastTimestamp"),
        ("logs", "deployment/skerry-operator", "--tail=30"),
    ):
        try:
            told.append(target.run(target.kubectl, "-n", SYSTEM, *arguments))
        except DemoFailed as error:
            told.append(str(error))
    return "\n".join(told)
