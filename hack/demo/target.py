"""The cluster of a demo: the embedded one, or one that its owner named."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["DemoFailed", "Target", "embedded", "existing", "loader_for", "parse_status", "take_down"]

ROOT = Path(__file__).resolve().parents[2]
DEV = ROOT / "hack" / "skerry-dev"
_TYPED = shlex.quote(str(DEV))


class DemoFailed(Exception):
    """Something that the demo needs did not work; the message says what and what to do."""


@dataclass(frozen=True)
class Target:
    """How to reach a cluster and how images get into it."""

    kubectl: tuple[str, ...]
    helm: tuple[str, ...]
    hint: str
    """What a person types for kubectl."""
    reach: str | None = None
    """What a person types so that `skerry` finds the cluster; None: it needs `--context` alone."""
    registry_push: str | None = None
    registry_pull: str | None = None
    tls: bool = False
    loader: tuple[str, ...] | None = None
    """Command that takes image archives into the cluster, where there is no registry."""
    cluster_cidrs: tuple[str, ...] = ()
    host_address: str | None = None

    def run(self, program: Sequence[str], *arguments: str, given: str | None = None) -> str:
        """Standard output; raises DemoFailed with the error output."""
        command = [*program, *arguments]
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
        if done.returncode:
            shown = " ".join([Path(program[0]).name, *arguments[:4]])
            raise DemoFailed(
                f"{shown} … failed ({done.returncode}):\n{done.stderr.strip() or done.stdout.strip()}"
            )
        return done.stdout


def embedded(name: str) -> Target:
    """Brings the instance up (a no-op when it is) and describes it."""
    if subprocess.run([str(DEV), "up", "--name", name], check=False, stdout=sys.stderr).returncode:
        raise DemoFailed(f"the embedded cluster did not come up; see hack/skerry-dev status --name {name}")
    done = subprocess.run(
        [str(DEV), "status", "--name", name, "-o", "json"], capture_output=True, text=True, check=True
    )
    return parse_status(json.loads(done.stdout))


def parse_status(status: dict[str, Any]) -> Target:
    """From what `skerry-dev status -o json` says of an instance that is up. Raises KeyError."""
    kubeconfig = str(status["kubeconfig"])
    return Target(
        kubectl=(str(status["kubectl"]), "--kubeconfig", kubeconfig),
        helm=(str(status["helm"]), "--kubeconfig", kubeconfig),
        hint=f"{_TYPED} kubectl --name {status['name']} --",
        reach=f'eval "$({_TYPED} env --name {status["name"]})"',
        registry_push=str(status["registryPush"]),
        registry_pull=str(status["registryPull"]),
        cluster_cidrs=(str(status["podCIDR"]), str(status["serviceCIDR"])),
        host_address=str(status["hostAddress"]),
    )


def loader_for(context: str) -> tuple[str, ...] | None:
    """The command of a local cluster's own tool that takes archives; None if the name says nothing."""
    match context.split("-", 1):
        case ["kind", name]:
            return ("kind", "load", "image-archive", "--name", name)
        case ["k3d", name]:
            return ("k3d", "image", "import", "--cluster", name)
        case ["minikube", *_]:
            return ("minikube", "image", "load")
        case _:
            return None


def existing(context: str, registry: str | None, *, plain_http: bool = False) -> Target:
    """A cluster of the user's kubeconfig. Raises DemoFailed where images could not get into it."""
    loader = None if registry else loader_for(context)
    if registry is None and loader is None:
        raise DemoFailed(
            f"how do images get into {context}? Name a registry that it pulls from and you may push to: REGISTRY=…"
        )
    for program in ("kubectl", "helm", *(loader or ())[:1]):
        if shutil.which(program) is None:
            raise DemoFailed(f"{program} is not on the PATH")
    return Target(
        kubectl=("kubectl", "--context", context),
        helm=("helm", "--kube-context", context),
        hint=f"kubectl --context {context}",
        registry_push=registry,
        registry_pull=registry or "localhost",
        tls=registry is not None and not plain_http,
        loader=loader,
    )


def take_down(name: str) -> None:
    """Removes the embedded instance with its data."""
    if subprocess.run([str(DEV), "down", "--wipe", "--name", name], check=False).returncode:
        raise DemoFailed(f"hack/skerry-dev down --name {name} failed")
