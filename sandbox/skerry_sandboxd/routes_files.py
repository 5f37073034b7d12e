"""Routes of files. Blocking work runs in threads; contents travel raw."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from typing import BinaryIO, Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from skerry_api.proofs import Proof, ProofError
from skerry_api.sandboxd_api import HEADER_FILE_SIZE, Reason
from skerry_sandboxd import files
from skerry_sandboxd.append_keys import AppendKeys
from skerry_sandboxd.body import spool_body
from skerry_sandboxd.errors import ApiError
from skerry_sandboxd.paths import Roots, os_failure
from skerry_sandboxd.query import file_mode, flag, number, text
from skerry_sandboxd.replies import model_response
from skerry_sandboxd.routes_search import search_routes
from skerry_sandboxd.settings import Limits

__all__ = ["file_routes"]

_CHUNK: Final = 256 * 1024
_NO_LIMIT: Final = 2**53


def file_routes(roots: Roots, limits: Limits) -> list[Route]:
    appended = AppendKeys()

    async def read(request: Request) -> Response:
        path = text(request, "path")
        offset = number(request, "offset", default=0, most=_NO_LIMIT)
        limit = number(request, "limit", default=_NO_LIMIT, most=_NO_LIMIT)
        file, size = await asyncio.to_thread(files.open_file, roots, path)
        # The length is promised, so that a cut connection can't pass for a short file.
        length = max(0, min(limit, size - offset))
        headers = {HEADER_FILE_SIZE: str(size), "Content-Length": str(length)}
        return StreamingResponse(
            _contents(file, offset, length), headers=headers, media_type="application/octet-stream"
        )

    async def write(request: Request) -> Response:
        path = text(request, "path")
        mode, append = file_mode(request), flag(request, "append")
        install = _installs(request)
        key = request.query_params.get("key")
        place = await asyncio.to_thread(roots.locate, path, write=True, install=install)
        try:
            spool = await asyncio.to_thread(_spool, place.root.path)
        except OSError as error:
            raise os_failure(error, place.root.path) from error
        with spool:
            digest = await spool_body(
                request.receive, spool,
                limit=limits.upload_bytes, patience=limits.body_idle_seconds,
            )  # fmt: skip
            _check_hash(request.state.proof, digest)
            if not append:
                result = await asyncio.to_thread(
                    files.replace_file, roots, path, spool, mode=mode, install=install
                )
                return model_response(result)
            async with appended.once(key, (place.path, digest)) as slot:
                if slot.result is None:
                    slot.result = await asyncio.to_thread(files.append_file, roots, path, spool, mode=mode)
                answer = slot.result
            return model_response(answer)

    async def remove(request: Request) -> Response:
        recursive = flag(request, "recursive")
        await asyncio.to_thread(
            files.delete, roots, text(request, "path"), recursive=recursive, install=_installs(request)
        )
        return Response(status_code=204)

    async def listing(request: Request) -> Response:
        depth = number(request, "depth", default=1, most=10)
        found = await asyncio.to_thread(
            files.list_directory, roots, text(request, "path"), depth=depth, limit=limits.list_entries
        )
        return model_response(found)

    async def stat(request: Request) -> Response:
        return model_response(await asyncio.to_thread(files.stat_path, roots, text(request, "path")))

    return [
        Route("/v1/files", read, methods=["GET"]),
        Route("/v1/files", write, methods=["PUT"]),
        Route("/v1/files", remove, methods=["DELETE"]),
        Route("/v1/files/list", listing, methods=["GET"]),
        Route("/v1/files/stat", stat, methods=["GET"]),
        *search_routes(roots),
    ]


def _installs(request: Request) -> bool:
    """Whether the runner itself fills a read-only directory; who comes by the unix socket may not."""
    install = flag(request, "install")
    if install and request.state.proof is None:
        raise ApiError(Reason.READ_ONLY, "install: only the runner may", field="install")
    return install


def _spool(directory: str) -> BinaryIO:
    """A nameless file on the target's file system."""
    return tempfile.TemporaryFile(dir=directory)


def _check_hash(proof: Proof | None, digest: bytes) -> None:
    if proof is None:
        return  # the unix socket asks for no proof
    try:
        proof.check_body(digest)
    except ProofError as error:
        raise ApiError(Reason.BODY_MISMATCH, str(error)) from error


async def _contents(file: BinaryIO, offset: int, length: int) -> AsyncIterator[bytes]:
    with file:
        await asyncio.to_thread(file.seek, offset)
        while length > 0:
            data = await asyncio.to_thread(file.read, min(_CHUNK, length))
            if not data:
                return  # it shrank under us; the promised length tells the reader
            length -= len(data)
            yield data
