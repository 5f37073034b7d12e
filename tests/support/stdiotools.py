"""An MCP server over stdio with one tool, of the standard library alone: any sandbox with a Python can run it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

TOOL = {
    "name": "whereami",
    "description": "Says where this server runs, and repeats a word.",
    "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a request; None for a method that it does not have."""
    match method:
        case "initialize":
            about = {"name": "stdiotools", "version": "1"}
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": about,
            }
        case "ping":
            return {}
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            text = f"{params['arguments']['word']} from {os.environ.get('PLACE')} in {Path.cwd()}"
            return {"content": [{"type": "text", "text": text}]}
        case _:
            return None


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = answer(message.get("method", ""), message.get("params") or {})
        missing = {"error": {"code": -32601, "message": "no such method"}}
        said = {"jsonrpc": "2.0", "id": message["id"], **(missing if result is None else {"result": result})}
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
