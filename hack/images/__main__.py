"""Command line: `hack/skerry-images build|context|clean`."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import urllib.error
from pathlib import Path

from images.build import Image, archive, build, push
from images.buildah import Buildah, BuildFailed
from images.cache import cache_dir
from images.context import make_context
from images.specs import IMAGES, spec_of
from images.steps import Steps
from skerry_devcluster.errors import DevClusterError
from skerry_devcluster.packages import ensure_packages
from skerry_devcluster.progress import Progress, Timings

__all__ = ["install_tools", "main"]

# Measured on two cores, with nothing cached.
_EXPECTED = {
    "base": 45.0, "wheels-operator": 30.0, "wheels-runner": 30.0, "wheels-sandbox": 10.0,
    "build-operator": 30.0, "build-runner": 40.0, "build-sandbox": 20.0,
    "push-operator": 5.0, "push-runner": 5.0, "push-sandbox": 5.0,
}  # fmt: skip


_PROVIDERS = "a runner with the packages of every provider of models, not OpenAI's alone"


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="skerry-images", description="Builds Skerry's images with buildah.")
    commands = parser.add_subparsers(dest="command")
    making = commands.add_parser("build", help="build what has changed (the default)")
    making.add_argument("--only", action="append", choices=sorted(IMAGES), help="this image; may be repeated")
    making.add_argument("--base", help="base image that buildah can pull; else a Debian base is made")
    making.add_argument("--push", metavar="ADDRESS", help="registry, e.g. 198.18.255.2:5000")
    making.add_argument("--tls", action="store_true", help="the registry speaks HTTPS")
    making.add_argument("--archive", type=Path, metavar="DIR", help="write docker-archives there")
    making.add_argument("-o", "--output", choices=("text", "json"), default="text")
    making.add_argument("--providers", action="store_true", help=_PROVIDERS)
    filling = commands.add_parser("context", help="prepare a context for `docker build`")
    filling.add_argument("image", choices=sorted(IMAGES))
    filling.add_argument("folder", type=Path)
    filling.add_argument("--providers", action="store_true", help=_PROVIDERS)
    commands.add_parser("clean", help="forget everything that was built or fetched")
    return parser.parse_args(argv or sys.argv[1:] or ["build"])


def install_tools(*, base: bool) -> None:
    """What is missing of the two programs, as root on Debian; no-one's packages are changed otherwise."""
    needs = {"buildah": "buildah"} | ({"mmdebstrap": "mmdebstrap"} if base else {})
    ensure_packages(needs, Progress(Timings(cache_dir() / "timings.json")))


def _build(options: argparse.Namespace, steps: Steps) -> list[Image]:
    install_tools(base=options.base is None)
    buildah = Buildah.default()
    images = []
    for name in options.only or IMAGES:
        image = build(spec_of(name, providers=options.providers), buildah, steps, options.base)
        if options.push:
            image = push(image, buildah, steps, options.push, tls=options.tls)
        if options.archive:
            image = archive(image, buildah, steps, options.archive)
        images.append(image)
    return images


def _clean() -> None:
    buildah = Buildah.default()
    buildah.run("rm", "--all")  # of builds that were killed: they hold mounts
    buildah.run("rmi", "--all", "--force")
    for folder in ("buildah", "wheels", "contexts", "images"):
        shutil.rmtree(cache_dir() / folder, ignore_errors=True)


def main(argv: list[str] | None = None) -> int:
    options = _arguments(argv)
    steps = Steps("images", _EXPECTED)
    try:
        if options.command == "clean":
            _clean()
        elif options.command == "context":
            make_context(spec_of(options.image, providers=options.providers), options.folder, steps)
        else:
            images = _build(options, steps)
            if options.output == "json":
                print(json.dumps({image.name: image.as_dict() for image in images}, indent=2))
            else:
                for image in images:
                    place = image.pushed or image.archive or image.reference
                    print(
                        f"{image.name:9} {image.size:>7}  {'built' if image.built else 'unchanged':9}  {place}"
                    )
    except (BuildFailed, DevClusterError, FileExistsError, urllib.error.URLError) as error:
        print(f"skerry-images: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
