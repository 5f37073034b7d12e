"""Read request bodies within bounds: of size, and of patience with a caller that stops sending."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from typing import BinaryIO

from starlette.types import Receive

from skerry_api.sandboxd_api import Reason
from skerry_sandboxd.errors import ApiError
from skerry_sandboxd.paths import os_failure

__all__ = ["read_body", "spool_body"]


async def _chunks(receive: Receive, *, limit: int, patience: float) -> AsyncIterator[bytes]:
    total = 0
    more = True
    while more:
        try:
            async with asyncio.timeout(patience):
                message = await receive()
        except TimeoutError:
            raise ApiError(Reason.INVALID_REQUEST, f"no byte of the body for {patience:g} s") from None
        if message["type"] != "http.request":
            raise ApiError(Reason.INVALID_REQUEST, "the caller hung up")
        data: bytes = message.get("body", b"")
        total += len(data)
        if total > limit:
            raise ApiError(Reason.TOO_LARGE, f"the body is larger than {limit} bytes")
        if data:
            yield data
        more = message.get("more_body", False)


async def read_body(receive: Receive, *, limit: int, patience: float) -> bytes:
    """The whole body. Raises ApiError (TooLarge, InvalidRequest). `patience` in seconds between two pieces."""
    return b"".join([chunk async for chunk in _chunks(receive, limit=limit, patience=patience)])


async def spool_body(receive: Receive, file: BinaryIO, *, limit: int, patience: float) -> bytes:
    """Write the body to `file`, rewind it, and return the SHA-256 digest. Raises ApiError as read_body, or NoSpace."""
    digest = hashlib.sha256()
    try:
        async for chunk in _chunks(receive, limit=limit, patience=patience):
            digest.update(chunk)
            await asyncio.to_thread(file.write, chunk)
        await asyncio.to_thread(file.seek, 0)
    except OSError as error:
        raise os_failure(error, "the upload's temporary file") from error
    return digest.digest()
