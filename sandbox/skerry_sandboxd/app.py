"""The ASGI applications: one set of routes, with a guarded door (TCP) and an open one (unix socket)."""

import asyncio
import logging
from dataclasses import dataclass
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skerry_api.sandboxd_api import HEADER_POD_UID, Health, Idle, Reason
from skerry_sandboxd import __version__
from skerry_sandboxd.clock import Clock
from skerry_sandboxd.errors import ApiError
from skerry_sandboxd.executions import Executions
from skerry_sandboxd.guard import Guard, LocalDoor
from skerry_sandboxd.idle import IdleClock
from skerry_sandboxd.ledger import Ledger
from skerry_sandboxd.paths import Roots
from skerry_sandboxd.processes import Processes
from skerry_sandboxd.replies import error_response, model_response
from skerry_sandboxd.routes_files import file_routes
from skerry_sandboxd.routes_runs import execution_routes, process_routes
from skerry_sandboxd.settings import Settings
from skerry_sandboxd.spawn import Spawner

__all__ = ["Sandboxd", "build"]

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True)
class Sandboxd:
    """Everything one sandboxd is made of."""

    guarded: ASGIApp
    local: ASGIApp
    executions: Executions
    processes: Processes

    async def stop(self, grace: float) -> None:
        """Take no new work and end every tree, SIGTERM first."""
        await asyncio.gather(self.executions.stop(grace), self.processes.stop(grace))


def build(settings: Settings, spawner: Spawner, ledger: Ledger, clock: Clock) -> Sandboxd:
    """Wire everything together; nothing is started."""
    idle = IdleClock(clock)
    executions = Executions(
        spawner=spawner, ledger=ledger, idle=idle, clock=clock,
        limits=settings.limits, cwd=settings.cwd, env=settings.command_env,
    )  # fmt: skip
    processes = Processes(
        spawner=spawner, clock=clock, limits=settings.limits, cwd=settings.cwd, env=settings.command_env
    )

    async def health(_: Request) -> Response:
        status = "stopping" if executions.stopping else "ok"
        return model_response(
            Health(status=status, pod_uid=settings.pod_uid, version=__version__),
            503 if executions.stopping else 200,
        )

    async def idleness(_: Request) -> Response:
        return model_response(
            Idle(
                idle_seconds=idle.seconds(),
                last_used_by=idle.last_user,
                active_executions=executions.active,
                processes=processes.running,
            )
        )

    routes = Starlette(
        routes=[
            Route("/health", health, methods=["GET"]),
            Route("/v1/idle", idleness, methods=["GET"]),
            *execution_routes(executions, settings.limits),
            *process_routes(processes, settings.limits),
            *file_routes(Roots(settings.roots), settings.limits),
        ],
        exception_handlers={ApiError: _on_api_error, HTTPException: _on_http_error, Exception: _on_crash},
    )
    routes.router.redirect_slashes = False
    return Sandboxd(
        guarded=_outer(Guard(routes, settings, clock, idle), settings),
        local=_outer(LocalDoor(routes, settings, idle), settings),
        executions=executions,
        processes=processes,
    )


async def _on_api_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)  # noqa: S101  # starlette's signature is wider than what it does
    return error_response(error)


async def _on_http_error(request: Request, error: Exception) -> Response:
    known = {404: Reason.NOT_FOUND, 405: Reason.METHOD_NOT_ALLOWED}
    reason = known.get(getattr(error, "status_code", 400), Reason.INVALID_REQUEST)
    return error_response(ApiError(reason, f"{request.method} {request.url.path}: no such call"))


async def _on_crash(_: Request, error: Exception) -> Response:
    _LOG.error("request failed", exc_info=error)
    return error_response(ApiError(Reason.INTERNAL, f"sandboxd failed: {type(error).__name__}"))


def _outer(app: ASGIApp, settings: Settings) -> ASGIApp:
    """Name our Pod in every answer, and answer only so many requests at a time."""
    header = (HEADER_POD_UID.lower().encode("ascii"), settings.pod_uid.encode("ascii"))
    inside = 0

    async def outer(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal inside

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), header]
            await send(message)

        if inside >= settings.limits.requests:
            error = ApiError(Reason.BUSY, f"{inside} requests are being served")
            await error_response(error)(scope, receive, named)
            return
        inside += 1
        try:
            await app(scope, receive, named)
        finally:
            inside -= 1

    return outer
