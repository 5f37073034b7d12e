"""What sandboxd is told by its environment, checked once at start."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from skerry_api.keys import KeyFormatError, KeySet
from skerry_api.sandboxd_api import DEFAULT_PORT, DEFAULT_SOCKET

__all__ = ["Limits", "Root", "Settings", "SettingsError", "base_environment", "load_settings"]

_DEFAULT_ROOTS: Final = "/mnt/user-data,/tmp,/mnt/skills:ro"
_DEFAULT_CWD: Final = "/mnt/user-data/workspace"


class SettingsError(ValueError):
    """A variable is missing or wrong; the message begins with its name."""


@dataclass(frozen=True)
class Root:
    """A directory whose files may be served. A path is absolute and has no symlinks to follow at its top."""

    path: str
    writable: bool = True


@dataclass(frozen=True)
class Limits:
    """Bounds on what callers can make us hold. Bytes, counts and seconds."""

    running: int = 16
    live_trees: int = 64
    processes: int = 32
    finished: int = 128
    retained_bytes: int = 32 * 1024 * 1024
    request_body: int = 4 * 1024 * 1024
    upload_bytes: int = 1024 * 1024 * 1024
    list_entries: int = 10_000
    requests: int = 128
    body_idle_seconds: float = 30.0
    kill_grace_seconds: float = 2.0
    shutdown_seconds: float = 4.0


@dataclass(frozen=True)
class Settings:
    """`sandbox_id` None: the Pod is warm, and the first valid grant says whose it becomes."""

    keys: KeySet
    pod_uid: str
    namespace: str
    sandbox_id: str | None
    host: str = "0.0.0.0"  # noqa: S104  # a Pod's address; NetworkPolicy and grants decide who gets in
    port: int = DEFAULT_PORT
    socket: Path | None = Path(DEFAULT_SOCKET)
    roots: tuple[Root, ...] = ()
    cwd: str = _DEFAULT_CWD
    state_dir: Path | None = None
    command_env: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)


def base_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What commands inherit: the container's variables without ours and without the service links of Kubernetes."""
    dropped = ("SKERRY_", "KUBERNETES_")
    kept = {k: v for k, v in environ.items() if not k.startswith(dropped)}
    kept.setdefault("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
    kept.setdefault("HOME", "/mnt/user-data/workspace")
    kept.setdefault("LANG", "C.UTF-8")
    return kept


def load_settings(environ: Mapping[str, str]) -> Settings:
    """Raises SettingsError."""
    try:
        keys = KeySet.from_jwks(_required(environ, "SKERRY_OPERATOR_KEYS"))
    except KeyFormatError as error:
        raise SettingsError(f"SKERRY_OPERATOR_KEYS: {error}") from error
    host, port = _listen(environ.get("SKERRY_LISTEN") or f"0.0.0.0:{DEFAULT_PORT}")
    socket = environ.get("SKERRY_SOCKET", DEFAULT_SOCKET)
    state = environ.get("SKERRY_STATE_DIR", str(Path(DEFAULT_SOCKET).parent))
    return Settings(
        keys=keys,
        pod_uid=_required(environ, "SKERRY_POD_UID"),
        namespace=_required(environ, "SKERRY_NAMESPACE"),
        sandbox_id=environ.get("SKERRY_SANDBOX_ID") or None,
        host=host,
        port=port,
        socket=Path(socket) if socket else None,
        roots=_roots(environ.get("SKERRY_FILE_ROOTS") or _DEFAULT_ROOTS),
        cwd=environ.get("SKERRY_CWD") or _DEFAULT_CWD,
        state_dir=Path(state) if state else None,
        command_env=base_environment(environ),
    )


def _required(environ: Mapping[str, str], name: str) -> str:
    value = environ.get(name, "")
    if not value:
        raise SettingsError(f"{name}: is not set")
    return value


def _listen(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise SettingsError(f"SKERRY_LISTEN: {text!r} is not host:port")
    return host.strip("[]"), int(port)


def _roots(text: str) -> tuple[Root, ...]:
    roots = []
    for index, part in enumerate(text.split(",")):
        path, colon, mode = part.strip().partition(":")
        if not path.startswith("/") or os.path.normpath(path) != path or (colon and mode not in {"ro", "rw"}):
            raise SettingsError(
                f"SKERRY_FILE_ROOTS[{index}]: {part!r} is not an absolute path with :ro or :rw"
            )
        roots.append(Root(path, writable=mode != "ro"))
    return tuple(roots)
