"""Join standard input and output to sandboxd's unix socket: how a `pods/exec` session speaks HTTP to it.

`python -m skerry_sandboxd.connect` in the container; the other end writes requests and reads answers as on
any connection. Standard library only, so that it starts fast.
"""

import os
import selectors
import socket
import sys
from typing import Final

__all__ = ["join", "main"]

_CHUNK: Final = 64 * 1024
_DEFAULT: Final = "/run/skerry/sandboxd.sock"


def join(peer: socket.socket, source: int, sink: int) -> None:
    """Copy both ways until the peer closes: callers ask for that with `Connection: close`."""
    selector = selectors.DefaultSelector()
    selector.register(peer, selectors.EVENT_READ)
    selector.register(source, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is peer:
                data = peer.recv(_CHUNK)
                if not data:
                    return
                _write(sink, data)
            elif data := os.read(source, _CHUNK):
                peer.sendall(data)
            else:
                # A half-closed connection counts as hung up, so the end is kept to ourselves.
                selector.unregister(source)


def _write(sink: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(sink, view) :]


def main() -> int:
    path = os.environ.get("SKERRY_SOCKET") or _DEFAULT
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        try:
            peer.connect(path)
        except OSError as error:
            sys.stderr.write(f"sandboxd: {path}: {error.strerror}\n")
            return 1
        join(peer, sys.stdin.fileno(), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
