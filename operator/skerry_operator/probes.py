"""Two small HTTP servers: /healthz and /readyz for the kubelet, /metrics for Prometheus."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from skerry_operator.health import Health

__all__ = ["metrics_app", "probes_app", "serve"]


def probes_app(health: Health) -> web.Application:
    """Answers on the event loop that does the work: a loop that is stuck does not answer in time."""

    def handler(faults: Callable[[], tuple[str, ...]]) -> Callable[[web.Request], object]:
        async def handle(_request: web.Request) -> web.Response:
            found = faults()
            return web.Response(text="\n".join(found) or "ok", status=503 if found else 200)

        return handle

    app = web.Application()
    app.router.add_get("/healthz", handler(health.alive))  # type: ignore[arg-type]  # aiohttp's alias is narrower
    app.router.add_get("/readyz", handler(health.ready))  # type: ignore[arg-type]
    return app


def metrics_app(registry: CollectorRegistry) -> web.Application:
    async def handle(_request: web.Request) -> web.Response:
        return web.Response(body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    app = web.Application()
    app.router.add_get("/metrics", handle)
    return app


@asynccontextmanager
async def serve(app: web.Application, port: int, host: str | None = None) -> AsyncIterator[int]:
    """Serve on the port (0: any free one) of all addresses; gives the port. Raises OSError if it is taken."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        await site.start()
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()
