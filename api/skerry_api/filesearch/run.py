"""Start the worker, and end it when it takes too long or nobody waits any more."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from skerry_api.filesearch.models import SearchRequest, SearchResult

__all__ = ["InvalidSearch", "SearchFailed", "Searcher", "TooSlow"]

Result = TypeVar("Result", bound=SearchResult)

SECONDS: Final = 15.0
"""After so long a search gives what it has; one that a regular expression holds up is killed a little later."""
_KILL_AFTER: Final = 5.0
_AT_ONCE: Final = 2
_WORKER: Final = Path(__file__).with_name("worker.py")


class SearchFailed(Exception):
    """The worker ended without a result that makes sense."""


class TooSlow(SearchFailed):
    """It was killed."""


class InvalidSearch(Exception):
    """The request is wrong; `field` says where."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field: Final = field


class Searcher:
    """A few searches at a time, the others wait. Of one event loop."""

    def __init__(self, *, seconds: float = SECONDS, grace: float = _KILL_AFTER) -> None:
        self._seconds, self._grace = seconds, grace
        self._room = asyncio.Semaphore(_AT_ONCE)

    async def search(
        self, request: SearchRequest, result: type[Result], *, directory: int, file: str | None = None
    ) -> Result:
        """Search `directory` (an open descriptor, which stays the caller's), or only its file `file`.

        Raises:
            InvalidSearch: pattern or glob can't be used.
            TooSlow, SearchFailed: there is no result.
        """
        told = request.model_dump(by_alias=True, mode="json")
        path = request.path.rstrip("/")
        told |= {"file": file, "prefix": path if file is not None else f"{path}/"}
        told["seconds"] = self._seconds
        async with self._room:
            worker = _Worker(json.dumps(told).encode(), directory, self._seconds + self._grace)
            try:
                answer = await asyncio.to_thread(worker.run)
            finally:
                # The thread can't be cancelled, but what it waits for can be ended.
                worker.kill()
        return _result(answer, result)


def _result(answer: bytes, result: type[Result]) -> Result:
    try:
        raw: Any = json.loads(answer)
        if isinstance(raw, dict) and isinstance(error := raw.get("error"), dict):
            raise InvalidSearch(str(error.get("field")), str(error.get("message")))
        return result.model_validate(raw)
    except (ValueError, ValidationError) as error:
        raise SearchFailed("the search broke off") from error


class _Worker:
    """Has a descriptor of its own: whoever asked may be gone, and theirs closed, before the thread gets going."""

    def __init__(self, request: bytes, directory: int, seconds: float) -> None:
        self._request, self._seconds = request, seconds
        self._directory = os.dup(directory)
        self._lock = threading.Lock()
        self._begun = self._unwanted = False
        self._process: subprocess.Popen[bytes] | None = None

    def run(self) -> bytes:
        with self._lock:
            if self._unwanted:
                return b""
            self._begun = True
        try:
            return self._communicate()
        finally:
            os.close(self._directory)

    def _communicate(self) -> bytes:
        # An empty environment: it runs beside commands of the same user, who can read it.
        command = [sys.executable, "-I", "-S", "-X", "utf8", str(_WORKER)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={"SKERRY_DIRECTORY": str(self._directory)}, pass_fds=(self._directory,),
        ) as process:  # fmt: skip
            self._process = process
            if self._unwanted:
                process.kill()
            try:
                return process.communicate(self._request, timeout=self._seconds)[0]
            except subprocess.TimeoutExpired:
                process.kill()
                raise TooSlow(
                    "the search took too long: narrow it to a directory, or use a simpler regular expression"
                ) from None

    def kill(self) -> None:
        """End it, or keep it from beginning."""
        with self._lock:
            if not (self._begun or self._unwanted):
                os.close(self._directory)
            self._unwanted = True
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
