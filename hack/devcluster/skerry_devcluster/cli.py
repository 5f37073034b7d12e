"""The command line. Answers go to stdout, progress and errors to stderr."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from skerry_devcluster.build import build
from skerry_devcluster.cluster import Mode
from skerry_devcluster.commands import SYSTEM_PATH, run
from skerry_devcluster.down import down
from skerry_devcluster.errors import DevClusterError, UsageError
from skerry_devcluster.facts import exports, facts_of
from skerry_devcluster.host import boot_id
from skerry_devcluster.images import ctr_command, import_archives
from skerry_devcluster.instances import paths_of
from skerry_devcluster.layout import InstancePaths, Layout, layout_from
from skerry_devcluster.namespaces import within
from skerry_devcluster.packages import IMAGES, ensure_packages
from skerry_devcluster.progress import Progress, Timings
from skerry_devcluster.restart import Change, change
from skerry_devcluster.session import cluster_of, prepare, require_root, require_up
from skerry_devcluster.status import Health, known_instances, status
from skerry_devcluster.targets import TARGETS
from skerry_devcluster.up import up

__all__ = ["main", "parser", "split_passed_on"]

DEFAULT_NAME = "dev"
_PASSED_ON = ("kubectl", "helm", "ctr", "exec")


def parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    top = argparse.ArgumentParser(
        prog="skerry-dev", description="A real single-node Kubernetes on this machine."
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, text: str, *, named: bool = True) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=text)
        if named:
            made.add_argument("--name", default=DEFAULT_NAME, help="which instance (default: %(default)s)")
        return made

    made = add("up", "bring an instance up, or repair it; returns when it is ready")
    made.add_argument("--control-plane-only", action="store_true", help="etcd and API server, no node")
    made.add_argument("--wait", action="store_true", help="the default; accepted so that scripts can say it")
    made = add("down", "remove what `up` made on the machine; data is kept")
    made.add_argument("--wipe", action="store_true", help="drop the instance's data too")
    made.add_argument("--all", action="store_true", help="every instance")
    made = add("status", "all instances, or one", named=False)
    made.add_argument("--name", default=None)
    made.add_argument("-o", "--output", choices=("text", "json"), default="text")
    add("kubeconfig", "print the path of the admin's kubeconfig")
    add("env", 'print export lines: eval "$(hack/skerry-dev env)"')
    for action in Change:
        made = add(action, f"{action} one component of an instance that is up")
        made.add_argument("component")
        made.add_argument("--kill", action="store_true", help="KILL instead of TERM")
    made = add("load-image", "load docker or OCI archives into containerd")
    made.add_argument("archives", nargs="+", type=Path, metavar="ARCHIVE")
    made = add("push", "copy an image to the instance's registry with skopeo")
    made.add_argument("source", help="as skopeo names it: docker-archive:FILE, containers-storage:NAME")
    made.add_argument("target", help="NAME:TAG; Pods use localhost:5000/NAME:TAG")
    made = add("build", "build the binaries, all or those named", named=False)
    made.add_argument("targets", nargs="*", choices=[*TARGETS, []], metavar="TARGET")
    for name in _PASSED_ON:
        where = "any program in the node's namespaces" if name == "exec" else f"the instance's own {name}"
        add(name, f"run {where}: {name} [--name NAME] [--] ARGUMENTS, all passed on as they are")
    return top


def split_passed_on(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Our own part of a command line and what goes to the program it runs.

    argparse would take the program's options for ours.
    """
    if not argv or argv[0] not in _PASSED_ON:
        return list(argv), []
    own, rest = [argv[0]], list(argv[1:])
    if rest and rest[0] in {"-h", "--help"} and argv[0] == "exec":
        return [*own, "--help"], []
    if rest and rest[0].startswith("--name="):
        own.append(rest.pop(0))
    elif rest and rest[0] == "--name":
        own += rest[:2]
        rest = rest[2:]
    return own, rest[1:] if rest and rest[0] == "--" else rest


def main(argv: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ) -> int:
    """Run one command; the exit code is 2 for a request that can't be carried out, 1 for a failure."""
    own, passed_on = split_passed_on(sys.argv[1:] if argv is None else argv)
    arguments = parser().parse_args(own, argparse.Namespace(arguments=passed_on))
    layout = layout_from(environ, Path.home())
    progress = Progress(Timings(layout.timings))
    try:
        return _dispatch(arguments, layout, progress, environ)
    except DevClusterError as error:
        print(f"skerry-dev: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("skerry-dev: interrupted; the same command again goes on from here", file=sys.stderr)
        return 130


def _dispatch(
    arguments: argparse.Namespace, layout: Layout, progress: Progress, environ: Mapping[str, str]
) -> int:
    command = arguments.command
    if command == "build":
        for name, place in build(arguments.targets or list(TARGETS), layout, progress).items():
            print(f"{name}\t{place}")
        return 0
    require_root()
    if command == "status":
        return _status(arguments, layout)
    if command == "down" and arguments.all:
        for claim in known_instances(layout):
            down(layout, paths_of(layout, claim.name, boot_id()), progress, wipe=arguments.wipe)
        return 0
    if command == "up":
        mode = Mode.CONTROL_PLANE if arguments.control_plane_only else Mode.FULL
        up(layout, layout.instance(arguments.name), mode, progress)
        return 0
    paths = paths_of(layout, arguments.name, boot_id())
    match command:
        case "down":
            down(layout, paths, progress, wipe=arguments.wipe)
        case "start" | "stop" | "restart":
            change(layout, paths, Change(command), arguments.component, progress, kill=arguments.kill)
        case "kubeconfig":
            require_up(paths)
            print(paths.kubeconfig)
        case _:
            return _use(arguments, layout, paths, progress, environ)
    return 0


def _use(
    arguments: argparse.Namespace,
    layout: Layout,
    paths: InstancePaths,
    progress: Progress,
    environ: Mapping[str, str],
) -> int:
    """Commands on a cluster that is up."""
    claim = require_up(paths)
    command = arguments.command
    if claim.mode is not Mode.FULL and command in {"load-image", "push", "ctr"}:
        raise UsageError(f"--name {paths.name}: is control-plane-only, it has no node for `{command}`")
    cluster = cluster_of(claim, paths, prepare(claim.mode, layout, progress))
    match command:
        case "env":
            print(exports(facts_of(cluster)), end="")
        case "load-image":
            print("\n".join(import_archives(cluster, arguments.archives)))
        case "push":
            ensure_packages(IMAGES, progress)
            target = arguments.target
            destination = f"docker://{cluster.registry}/{target}"
            run(["skopeo", "copy", "-q", "--dest-tls-verify=false", arguments.source, destination])
            print(f"localhost:5000/{target}")
        case _:
            rest = arguments.arguments
            if command in {"kubectl", "helm"}:
                argv = [str(cluster.binaries[command]), *rest]
            elif command == "ctr":
                argv = [*ctr_command(cluster), *rest]
            else:
                argv = [*within(paths, mounts=claim.mode is Mode.FULL), *rest]
            path = f"{environ.get('PATH', '')}:{SYSTEM_PATH}"
            os.execvpe(argv[0], argv, {**environ, "KUBECONFIG": str(paths.kubeconfig), "PATH": path})
    return 0


def _status(arguments: argparse.Namespace, layout: Layout) -> int:
    """Exit code 0 if everything asked for is up, 1 if not, 2 for a name nobody knows."""
    known = known_instances(layout)
    if arguments.name is not None:
        known = [claim for claim in known if claim.name == arguments.name]
        if not known:
            raise UsageError(f"--name {arguments.name}: no such instance")
    found = [status(layout, claim) for claim in known]
    if arguments.output == "json":
        rows = [entry.to_json() for entry in found]
        print(json.dumps(rows[0] if arguments.name is not None else rows, indent=1))
    else:
        for entry in found:
            print(
                f"{entry.name}\t{entry.health}\t{entry.facts.get('mode', '')}\t{entry.facts.get('apiServerAddress', '')}"
            )
            for name, pid in entry.components.items():
                print(f"  {name}\t{f'pid {pid}' if pid else 'not running'}")
    return 0 if all(entry.health is Health.UP for entry in found) else 1
