"""Asking a registry, over real HTTP on loopback."""

from __future__ import annotations

import threading
import urllib.error
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from typing_extensions import override

from images.registry import pushed_digest


class _Registry(BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        known = {"/v2/skerry-runner/manifests/t1": "sha256:abc"}
        if "/broken/" in self.path:
            self.send_response(500)
        elif self.path in known and "oci.image.manifest" in self.headers["Accept"]:
            self.send_response(200)
            self.send_header("Docker-Content-Digest", known[self.path])
        else:
            self.send_response(404)
        self.end_headers()

    @override
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Registry)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_pushed_image_is_found_by_tag(address: str) -> None:
    assert pushed_digest(address, "skerry-runner", "t1") == "sha256:abc"
    assert pushed_digest(address, "skerry-runner", "t2") is None


def test_a_sick_registry_is_not_an_empty_one(address: str) -> None:
    with pytest.raises(urllib.error.HTTPError):
        pushed_digest(address, "broken", "t1")


def test_no_registry_says_so() -> None:
    with pytest.raises(urllib.error.URLError):
        pushed_digest("127.0.0.1:9", "skerry-runner", "t1", timeout=2)
