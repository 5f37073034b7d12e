"""Command line of the demo: up, down."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import yaml

from demo.install import SYSTEM, deliver_images, install
from demo.target import ROOT, DemoFailed, Target, embedded, existing, take_down
from images.steps import Steps
from skerry_cli.kubectl import Kubectl, KubectlError
from skerry_cli.watch import Watcher

__all__ = ["main"]

HELLO = ROOT / "examples" / "hello"
WITHIN = 600
# Measured on two cores, images built before.
_EXPECTED = {"images": 5.0, "charts": 15.0, "run": 20.0}


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="skerry-demo", description="Watch an AgentRun go through a real Kubernetes."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, what in (("up", "bring all up and run examples/hello"), ("down", "take it away again")):
        command = commands.add_parser(name, help=what)
        command.add_argument("--context", help="a cluster of your kubeconfig, instead of the embedded one")
        command.add_argument("--name", default="demo", help="instance of the embedded cluster")
        command.add_argument("--namespace", default="skerry-runs", help="where the run lives")
        if name == "up":
            command.add_argument("--registry", help="with --context: where to push, and pull from")
            command.add_argument("--plain-http", action="store_true", help="the registry speaks HTTP")
            command.add_argument(
                "--values", type=Path, help="more values for the chart: a file, YAML or JSON"
            )
    return parser.parse_args(argv)


def _up(options: argparse.Namespace) -> int:
    more = _values(options.values)
    steps = Steps("demo", _EXPECTED, sys.stdout)
    if options.context:
        target = existing(options.context, options.registry, plain_http=options.plain_http)
        steps.say(f"using the cluster of context {options.context}")
    else:
        steps.say("embedded Kubernetes (the first time it is built: up to 15 minutes on two cores)")
        target = embedded(options.name)
    with steps.step("images", "building the images and bringing them in"):
        images = deliver_images(target)
    install(target, images, options.namespace, steps, more)
    with steps.step("run", "AgentRun hello"):
        run = _play(target, options.namespace, steps)
    _show(target, options, run)
    return 0 if run["status"]["phase"] == "Succeeded" else 1


def _values(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise DemoFailed(f"--values {path}: {error}") from error
    if not isinstance(values, dict):
        raise DemoFailed(f"--values {path}: must be a mapping")
    return values


def _play(target: Target, namespace: str, steps: Steps) -> dict[str, Any]:
    kubectl = (*target.kubectl, "--namespace", namespace)
    # A run is immutable: one from an earlier demo makes room.
    target.run(kubectl, "delete", "agentrun", "hello", "--ignore-not-found", "--wait=true")
    steps.say(target.run(kubectl, "apply", "-f", str(HELLO)).strip().replace("\n", ", "))
    return asyncio.run(_follow(Watcher(Kubectl(target.kubectl, namespace), "hello", steps.say, steps.say)))


async def _follow(watcher: Watcher) -> dict[str, Any]:
    try:
        async with asyncio.timeout(WITHIN):
            return await watcher.follow()
    except TimeoutError:
        run = await watcher.kubectl.json("get", "agentrun", watcher.name)
        raise DemoFailed(f"{watcher.name} did not end in time: {json.dumps(run)}") from None
    except KubectlError as error:
        raise DemoFailed(str(error)) from error


def _show(target: Target, options: argparse.Namespace, run: dict[str, Any]) -> None:
    inside = (*target.kubectl, "--namespace", options.namespace)
    print(f"\n{target.run(inside, 'get', 'agentruns,sandboxes')}")
    status = run["status"]
    answer = (status.get("runner") or {}).get("answer") or f"no answer: {status.get('failure')}"
    print(textwrap.fill(answer, 100, initial_indent="  ", subsequent_indent="  "))
    sandbox = status.get("sandboxId")
    look = [
        ("all that stands in its status", "k get agentrun hello -o yaml"),
        *([("every model and tool call", f"k logs {status['podName']}")] if "podName" in status else []),
        ("what happened, in short", "k events"),
        *(
            [("its files, parked for ten minutes", f"k exec {sandbox} -- ls -R /mnt/user-data")]
            if sandbox
            else []
        ),
        ("the next run in the same sandbox", "k apply -f examples/hello/again/run.yaml"),
        ("watch that run", _watch(options)),
        ("the operator's log", f"k -n {SYSTEM} logs deployment/skerry-operator"),
        ("what a run can say", "k explain agentrun.spec"),
        ("a real model", "examples/openai/README.md"),
    ]
    if target.host_address:
        look.append(("an address of this machine that Pods reach", target.host_address))
    look.append(("take it away", _way_down(options)))
    print(f"\nWhere to look next, after\n  alias k='{target.hint} -n {options.namespace}'")
    if target.reach:
        print(f"  {target.reach}")
    for what, command in look:
        print(f"  {what:<44} {command}")


def _watch(options: argparse.Namespace) -> str:
    context = f" --context {options.context}" if options.context else ""
    return f".venv/bin/skerry watch hello-again -n {options.namespace}{context}"


def _way_down(options: argparse.Namespace) -> str:
    if options.context:
        return f"make demo-down CONTEXT={options.context}"
    return "make demo-down" if options.name == "demo" else f"hack/skerry-demo down --name {options.name}"


def _down(options: argparse.Namespace) -> int:
    if not options.context:
        take_down(options.name)
        return 0
    # The registry does not matter any more.
    target = existing(options.context, "none")
    target.run(target.helm, "uninstall", "skerry", "--namespace", SYSTEM, "--ignore-not-found", "--wait")
    print("The operator is gone. Kept, since they may hold what you want to keep:")
    print(f"  {target.hint} delete namespace {options.namespace} {SYSTEM}")
    print(f"  {' '.join(target.helm)} uninstall skerry-crds --namespace {SYSTEM}   (keeps the CRDs)")
    return 0


def main(argv: list[str] | None = None) -> int:
    options = _arguments(argv)
    try:
        return _up(options) if options.command == "up" else _down(options)
    except DemoFailed as error:
        print(f"skerry-demo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nskerry-demo: stopped; what is up stays up (make demo-down)", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
