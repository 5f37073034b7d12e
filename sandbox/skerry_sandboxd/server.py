"""Run sandboxd: the two listeners, the signals of a PID 1, and an orderly end."""

import asyncio
import contextlib
import logging
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import uvicorn
from starlette.types import ASGIApp
from typing_extensions import override

from skerry_sandboxd.app import Sandboxd, build
from skerry_sandboxd.clock import Clock
from skerry_sandboxd.ledger import Ledger
from skerry_sandboxd.reaper import reap_orphans
from skerry_sandboxd.settings import Settings
from skerry_sandboxd.spawn import Spawner

__all__ = ["serve"]

_LOG: Final = logging.getLogger(__name__)
_BACKLOG: Final = 128


class _Server(uvicorn.Server):
    """Signals are ours: commands are ended before connections are."""

    @contextlib.contextmanager
    @override
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT; returns when every command has ended. Raises OSError if we can't listen."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    spawner = Spawner()
    spawner.start()

    def on_child() -> None:
        spawner.poll()
        reap_orphans(spawner.pid)

    loop.add_signal_handler(signal.SIGCHLD, on_child)
    sandboxd = build(settings, spawner, _ledger(settings), Clock())
    tcp = _tcp_socket(settings)
    servers = [(_server(sandboxd.guarded), tcp)]
    if settings.socket is not None:
        servers.append((_server(sandboxd.local), _unix_socket(settings.socket)))
    tasks = [asyncio.create_task(server.serve([sock])) for server, sock in servers]
    host, port = tcp.getsockname()[:2]
    _LOG.info("listening", extra={"host": host, "port": port, "socket": str(settings.socket or "")})
    waiter = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait([waiter, *tasks], return_when=asyncio.FIRST_COMPLETED)
        await _end(sandboxd, settings)
    finally:
        waiter.cancel()
        for server, _ in servers:
            server.should_exit = True
        await asyncio.gather(*tasks, return_exceptions=True)
        spawner.close()
        if settings.socket is not None:
            settings.socket.unlink(missing_ok=True)


async def _end(sandboxd: Sandboxd, settings: Settings) -> None:
    _LOG.info("stopping", extra={"executions": sandboxd.executions.active})
    try:
        async with asyncio.timeout(settings.limits.shutdown_seconds):
            await sandboxd.stop(settings.limits.kill_grace_seconds)
    except TimeoutError:
        _LOG.warning("some processes would not end")


def _server(app: ASGIApp) -> _Server:
    config = uvicorn.Config(
        app, http="h11", ws="none", lifespan="off", loop="asyncio", log_config=None, access_log=False,
        server_header=False, proxy_headers=False, timeout_keep_alive=60, timeout_graceful_shutdown=3,
    )  # fmt: skip
    return _Server(config)


def _tcp_socket(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Named in full: for a socket of protocol 0 asyncio leaves Nagle's algorithm on, and answers wait 40 ms.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    sock.bind((settings.host, settings.port))
    sock.listen(_BACKLOG)  # now, so that "listening" is true when we say so
    return sock


def _unix_socket(path: Path) -> socket.socket:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(
        PermissionError
    ):  # an emptyDir belongs to root: its group lets us write, not chmod
        path.parent.chmod(0o700)
    path.unlink(missing_ok=True)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        sock.bind(str(path))
    finally:
        os.umask(before)
    sock.listen(_BACKLOG)
    return sock


def _ledger(settings: Settings) -> Ledger:
    if settings.state_dir is None:
        return Ledger(None)
    try:
        settings.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        return Ledger(settings.state_dir / "executions.jsonl")
    except OSError as error:
        # Commands still run at most once for as long as we live.
        _LOG.warning("no ledger on disk", extra={"error": str(error)})
        return Ledger(None)
