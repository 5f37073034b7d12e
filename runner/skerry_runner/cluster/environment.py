"""What the Pod tells the runner about itself: names from the downward API, paths of what is mounted.

The Pod's name holds run and epoch, so that even a runner whose document cannot be read knows for whom it speaks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skerry_api.document import DOCUMENT_PATH
from skerry_api.files import FILES_PATH
from skerry_api.skills import SKILLS_PATH
from skerry_api.stream import STREAM_PORT

__all__ = ["SERVICE_ACCOUNT", "BadEnvironment", "Environment", "Identity", "api_server", "read_environment"]

SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
STATE = "/var/lib/skerry"
TERMINATION_LOG = "/dev/termination-log"


class BadEnvironment(Exception):
    """The process was not started as a runner Pod is: the message names every variable that is missing or bad."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Which Pod of which epoch of which run this is."""

    namespace: str
    run: str
    epoch: int
    pod_uid: str
    node: str | None


@dataclass(frozen=True, slots=True)
class Environment:
    """Identity, the API server's URL, and where things are mounted."""

    identity: Identity
    api_server: str
    service_account: Path
    document: Path
    state: Path
    termination_log: Path
    files: Path = Path(FILES_PATH)
    stream_port: int = STREAM_PORT
    """Where the live stream listens, on loopback; 0: any free port."""
    skills: Path = Path(SKILLS_PATH)


def api_server(env: Mapping[str, str]) -> str | None:
    """URL of the API server, as a Pod is told; None outside of one."""
    if url := env.get("SKERRY_API_SERVER"):
        return url.rstrip("/")
    host, port = env.get("KUBERNETES_SERVICE_HOST"), env.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        return None
    return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"


def read_environment(env: Mapping[str, str]) -> Environment:
    """Read the environment; the `SKERRY_*` variables exist for runners outside a Pod. Raises BadEnvironment."""
    faults = [f"{name} is not set" for name in ("POD_NAME", "POD_UID", "POD_NAMESPACE") if not env.get(name)]
    server = api_server(env)
    if server is None:
        faults.append("KUBERNETES_SERVICE_HOST is not set")
    run, _, number = env.get("POD_NAME", "").rpartition("-")
    epoch = int(number) if number.isdecimal() else 0
    if env.get("POD_NAME") and (not run or epoch < 1):
        faults.append(f"POD_NAME is {env['POD_NAME']!r}, not <run>-<epoch>")
    stream = env.get("SKERRY_STREAM_PORT", str(STREAM_PORT))
    if not (stream.isascii() and stream.isdecimal() and int(stream) < 65536):
        faults.append(f"SKERRY_STREAM_PORT is {stream!r}, not a port")
    if faults or server is None:
        raise BadEnvironment("; ".join(faults))
    return Environment(
        identity=Identity(
            env["POD_NAMESPACE"], run, epoch, pod_uid=env["POD_UID"], node=env.get("NODE_NAME") or None
        ),
        api_server=server,
        service_account=Path(env.get("SKERRY_SERVICE_ACCOUNT", SERVICE_ACCOUNT)),
        document=Path(env.get("SKERRY_DOCUMENT", DOCUMENT_PATH)),
        state=Path(env.get("SKERRY_STATE", STATE)),
        termination_log=Path(env.get("SKERRY_TERMINATION_LOG", TERMINATION_LOG)),
        files=Path(env.get("SKERRY_FILES", FILES_PATH)),
        stream_port=int(stream),
        skills=Path(env.get("SKERRY_SKILLS", SKILLS_PATH)),
    )
