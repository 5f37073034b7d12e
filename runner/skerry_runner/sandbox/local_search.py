"""Searches of the Local provider: the directory is resolved here, the worker can't leave it."""

from __future__ import annotations

import asyncio
import os
import stat
from typing import Final, TypeVar

from skerry_api.filesearch.models import SearchRequest, SearchResult
from skerry_api.filesearch.run import InvalidSearch, Searcher, SearchFailed, TooSlow
from skerry_runner.sandbox.errors import InvalidCall, NotADirectory, NotARegularFile, SandboxProtocolError
from skerry_runner.sandbox.local_files import translated
from skerry_runner.sandbox.mounts import Mounts

__all__ = ["LocalSearch"]

Result = TypeVar("Result", bound=SearchResult)
_OPEN: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class LocalSearch:
    """Raises what Sandbox raises."""

    def __init__(self, mounts: Mounts) -> None:
        self._mounts = mounts
        self._searcher = Searcher()

    async def run(self, request: SearchRequest, result: type[Result], *, files: bool = False) -> Result:
        """`files`: the path may be a file, which is searched alone."""
        directory, file = await asyncio.to_thread(self._open, request.path)
        try:
            if file is not None and not files:
                raise NotADirectory(request.path, f"{request.path} is not a directory")
            return await self._searcher.search(request, result, directory=directory, file=file)
        except InvalidSearch as error:
            raise InvalidCall(str(error), error.field) from error
        except TooSlow as error:
            raise InvalidCall(str(error)) from error
        except SearchFailed as error:
            raise SandboxProtocolError(str(error)) from error
        finally:
            os.close(directory)

    def _open(self, path: str) -> tuple[int, str | None]:
        real = self._mounts.resolve(path)
        with translated(path):
            mode = real.lstat().st_mode
            if stat.S_ISDIR(mode):
                return os.open(real, _OPEN), None
            if stat.S_ISREG(mode):
                return os.open(real.parent, _OPEN), real.name
        raise NotARegularFile(path, f"{path} is not a regular file")
