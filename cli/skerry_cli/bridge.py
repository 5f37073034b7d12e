"""A way to sandboxd in a Pod by the user's own right to pods/exec: each connection is a `kubectl exec` of its own."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx

from skerry_api.sandboxd_api import ErrorBody
from skerry_cli.kubectl import Kubectl, KubectlError, last_words

__all__ = ["CONNECT", "Door", "Refused"]

CONNECT = ("/opt/skerry/bin/python", "-m", "skerry_sandboxd.connect")
"""What joins a `kubectl exec` to sandboxd's unix socket, in every image that is made from ours."""
_CHUNK = 64 * 1024
_SILENCE = 60.0
"""Seconds: streams of sandboxd are never silent for longer than 15."""


class Refused(Exception):
    """sandboxd's answer is no; the message is its own."""

    def __init__(self, body: ErrorBody) -> None:
        super().__init__(f"{body.reason}: {body.message}")
        self.reason = body.reason


class Door:
    """HTTP calls to the sandboxd of one Pod. Every call raises KubectlError where kubectl fails, or Refused."""

    def __init__(self, kubectl: Kubectl, pod: str, http: httpx.AsyncClient) -> None:
        self._kubectl = kubectl
        self._http = http
        self._exec = ("exec", "--stdin", f"pod/{pod}", "--container=sandbox", "--", *CONNECT)
        self._said = ""
        self._open: set[asyncio.Task[None]] = set()

    @classmethod
    @asynccontextmanager
    async def opened(cls, kubectl: Kubectl, pod: str) -> AsyncIterator[Door]:
        with tempfile.TemporaryDirectory(prefix="skerry-") as folder:
            path = Path(folder) / "sandboxd.sock"
            transport = httpx.AsyncHTTPTransport(uds=str(path))
            http = httpx.AsyncClient(transport=transport, base_url="http://sandboxd", timeout=_SILENCE)
            door = cls(kubectl, pod, http)
            server = await asyncio.start_unix_server(door._accept, path)
            try:
                async with http:
                    yield door
            finally:
                server.close()
                for task in list(door._open):
                    task.cancel()
                await asyncio.gather(*door._open, return_exceptions=True)

    async def call(
        self,
        method: str,
        url: str,
        /,
        *,
        content: bytes | AsyncIterator[bytes] | None = None,
        **params: str | int,
    ) -> httpx.Response:
        """The whole answer."""
        async with self.stream(method, url, content=content, **params) as answer:
            await answer.aread()
            return answer

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        url: str,
        /,
        *,
        content: bytes | AsyncIterator[bytes] | None = None,
        **params: str | int,
    ) -> AsyncGenerator[httpx.Response, None]:
        """An answer to be read by and by."""
        try:
            async with self._http.stream(method, url, content=content, params=params) as answer:
                if not answer.is_success:
                    await answer.aread()
                    raise Refused(ErrorBody.model_validate_json(answer.content))
                yield answer
        except httpx.HTTPError as error:
            raise KubectlError(self._said or f"the connection to the sandbox broke: {error}") from error

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._join(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with self._kubectl.piped(*self._exec) as (source, sink, errors):
                said = asyncio.create_task(errors.read())
                ways = [asyncio.create_task(_copy(reader, source)), asyncio.create_task(_copy(sink, writer))]
                try:
                    # The first end ends both: an answer was had whole, or kubectl is gone.
                    await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
                    if ways[1].done() and (words := await said).strip():
                        self._said = last_words(words)
                finally:
                    for each in (said, *ways):
                        each.cancel()
                    await asyncio.gather(said, *ways, return_exceptions=True)
        except KubectlError as error:
            self._said = str(error)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Until the reader's end; what a broken writer can't take is dropped, since the other way says why."""
    while data := await reader.read(_CHUNK):
        with suppress(OSError):
            writer.write(data)
            await writer.drain()
