"""`python -m skerry_operator`: in a Pod with its own credentials, or outside of the cluster with a kubeconfig."""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import secrets
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import structlog

from skerry_operator.clock import RealClock
from skerry_operator.config import CONFIG_ENV, DEFAULT_PATH, Config, load_config
from skerry_operator.errors import ConfigError, OperatorError
from skerry_operator.kube.credentials import Credentials
from skerry_operator.logs import configure_logs
from skerry_operator.service import Environment, Service

__all__ = ["identity_of", "main"]

EXIT_CONFIG = 2
EXIT_FAILED = 1


def identity_of(environ: Mapping[str, str], suffix: str) -> str:
    """Who contends for the Lease: the Pod, or host and a suffix of this process.

    A container that is restarted in its Pod is the same contender: its predecessor is dead, nobody has to wait.
    """
    pod, uid = environ.get("POD_NAME"), environ.get("POD_UID")
    return f"{pod}_{uid}" if pod and uid else f"{socket.gethostname()}_{suffix}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="skerry-operator", description="The operator of Skerry.")
    parser.add_argument(
        "--config",
        type=Path,
        default=Path(os.environ.get(CONFIG_ENV) or DEFAULT_PATH),
        help=f"configuration file, YAML or JSON (${CONFIG_ENV}; default {DEFAULT_PATH})",
    )
    parser.add_argument(
        "--kubeconfig", type=Path, help="kubeconfig file; without it the Pod's ServiceAccount is used"
    )
    parser.add_argument("--context", help="context of the kubeconfig; its current one by default")
    parser.add_argument("--identity", help="name in the Lease, unique among running operators")
    options = parser.parse_args(arguments)
    try:
        config = load_config(options.config)
        configure_logs(config.log_level)
        return asyncio.run(_run(config, options))
    except ConfigError as error:
        print(f"skerry-operator: {error}", file=sys.stderr)  # noqa: T201 - before or beside the log
        return EXIT_CONFIG


async def _run(config: Config, options: argparse.Namespace) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    environment = Environment(
        credentials=Credentials(options.kubeconfig, options.context),
        identity=options.identity or identity_of(os.environ, secrets.token_hex(4)),
        clock=RealClock(),
        random=random.random,
        new_id=lambda: secrets.token_urlsafe(16),
    )
    try:
        await Service(config, environment).run(stop)
    except ConfigError:
        raise
    except (OperatorError, OSError) as error:
        structlog.get_logger(__name__).error("failed", error=str(error))
        return EXIT_FAILED
    except Exception:  # noqa: BLE001 - told, then the kubelet starts us again
        structlog.get_logger(__name__).exception("failed")
        return EXIT_FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
