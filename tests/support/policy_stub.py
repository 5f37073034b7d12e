"""A stand-in for a policy endpoint in the form of OPA's data API. Standard library alone.

`python policy_stub.py PORT RULES.json`, where the rules are {"authorization": the header it wants, "deny": {id of a call:
reason}, "last": id of the call at which it ends, without an answer}. What it is asked goes to stdout, an input
a line, between the server's own log.
"""

from __future__ import annotations

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

Json = dict[str, Any]


class Policy(BaseHTTPRequestHandler):
    rules: ClassVar[Json] = {}

    def do_GET(self) -> None:
        """Whatever is asked for: it is well."""
        self._say(200, {})

    def do_POST(self) -> None:
        """A decision."""
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))["input"]
        if self.headers.get("authorization") != self.rules["authorization"]:
            self._say(401, {"code": "unauthorized"})
            return
        print(json.dumps(asked), flush=True)  # noqa: T201 - its record
        if asked["id"] == self.rules["last"]:
            os._exit(0)
        reason = self.rules["deny"].get(asked["id"])
        self._say(200, {"result": {"allow": reason is None, "reason": reason}})

    def _say(self, status: int, body: Json) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


if __name__ == "__main__":
    Policy.rules = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    ThreadingHTTPServer(("0.0.0.0", int(sys.argv[1])), Policy).serve_forever()
