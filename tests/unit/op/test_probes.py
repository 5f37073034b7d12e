"""The two small servers, over real sockets."""

from __future__ import annotations

import httpx
import pytest

from skerry_operator.cache.store import WATCHED
from skerry_operator.health import Health, Limits
from skerry_operator.metrics import Metrics
from skerry_operator.probes import metrics_app, probes_app, serve
from skerry_testing.fakeclock import FakeClock

HOST = "127.0.0.1"


async def ask(port: int, path: str) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False) as client:
        return await client.get(f"http://{HOST}:{port}{path}")


async def test_readiness_and_liveness_say_why_not() -> None:
    clock = FakeClock()
    health = Health(clock.monotonic, Limits(resync_age=10, queue_age=10, missed_resyncs=1))
    async with serve(probes_app(health), 0, HOST) as port:
        answer = await ask(port, "/readyz")
        assert answer.status_code == 503
        assert "agentruns not listed yet" in answer.text
        assert (await ask(port, "/healthz")).status_code == 200
        for kind in WATCHED:
            health.note_listed(kind)
        assert (await ask(port, "/readyz")).text == "ok"
        clock.pause(11)
        answer = await ask(port, "/healthz")
        assert answer.status_code == 503
        assert "no resync" in answer.text
        assert (await ask(port, "/other")).status_code == 404


async def test_metrics_are_served_with_gauges_read_at_scrape_time() -> None:
    metrics, depth = Metrics(), [3.0]
    metrics.serve_gauges(lambda: {"skerry_queue_depth": {(): depth[0]}, "skerry_runs": {("Running",): 2.0}})
    metrics.conflicts.labels("run").inc()
    async with serve(metrics_app(metrics.registry), 0, HOST) as port:
        text = (await ask(port, "/metrics")).text
        assert "skerry_queue_depth 3.0" in text
        assert 'skerry_runs{phase="Running"} 2.0' in text
        assert 'skerry_conflicts_total{topic="run"} 1.0' in text
        depth[0] = 0.0
        assert "skerry_queue_depth 0.0" in (await ask(port, "/metrics")).text


async def test_a_taken_port_is_an_error_at_once() -> None:
    app = Metrics()
    async with serve(metrics_app(app.registry), 0, HOST) as port:
        with pytest.raises(OSError, match=r"in use"):
            async with serve(metrics_app(app.registry), port, HOST):
                pass
