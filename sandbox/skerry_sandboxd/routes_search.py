"""Routes of searches, by name and by content. POST, since a pattern is no part of an address; nothing is changed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from skerry_api.filesearch.models import (
    FindRequest,
    FindResult,
    GrepRequest,
    GrepResult,
    SearchRequest,
    SearchResult,
)
from skerry_api.filesearch.run import InvalidSearch, Searcher, SearchFailed, TooSlow
from skerry_api.sandboxd_api import Reason
from skerry_sandboxd.errors import ApiError
from skerry_sandboxd.files import open_to_search
from skerry_sandboxd.paths import Roots
from skerry_sandboxd.query import parse
from skerry_sandboxd.replies import model_response

__all__ = ["search_routes"]

Result = TypeVar("Result", bound=SearchResult)


def search_routes(roots: Roots) -> list[Route]:
    searcher = Searcher()

    async def run(http: Request, request: SearchRequest, result: type[Result], *, files: bool) -> Result:
        directory, file = await asyncio.to_thread(open_to_search, roots, request.path)
        try:
            if file is not None and not files:
                raise ApiError(Reason.NOT_DIRECTORY, f"{request.path} is not a directory", field="path")
            search = searcher.search(request, result, directory=directory, file=file)
            return await _while_connected(http, search)
        except InvalidSearch as error:
            raise ApiError(Reason.INVALID_REQUEST, str(error), field=error.field) from error
        except TooSlow as error:
            raise ApiError(Reason.INVALID_REQUEST, str(error)) from error
        except SearchFailed as error:
            raise ApiError(Reason.INTERNAL, str(error)) from error
        finally:
            os.close(directory)

    async def find(request: Request) -> Response:
        body = parse(FindRequest, await request.body())
        return model_response(await run(request, body, FindResult, files=False))

    async def grep(request: Request) -> Response:
        body = parse(GrepRequest, await request.body())
        return model_response(await run(request, body, GrepResult, files=True))

    return [
        Route("/v1/files/find", find, methods=["POST"]),
        Route("/v1/files/grep", grep, methods=["POST"]),
    ]


async def _while_connected(http: Request, search: Coroutine[Any, Any, Result]) -> Result:
    """The search's result; it is ended when the caller hangs up."""
    searching = asyncio.create_task(search)
    leaving = asyncio.create_task(_hung_up(http))
    try:
        await asyncio.wait((searching, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not searching.done():
            raise SearchFailed("nobody waits for it any more")
        return searching.result()
    finally:
        leaving.cancel()
        searching.cancel()
        await asyncio.wait((searching, leaving))


async def _hung_up(http: Request) -> None:
    while (await http.receive())["type"] != "http.disconnect":
        pass
