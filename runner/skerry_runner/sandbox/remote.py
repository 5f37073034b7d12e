"""A sandbox in a Pod: sandboxd over HTTP, with the runner's key and the operator's grant."""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable, Mapping
from contextlib import aclosing
from typing import Final, TypeVar

import httpx
from pydantic import BaseModel, ValidationError
from typing_extensions import override

from skerry_api.filesearch.models import (
    FindRequest,
    FindResult,
    GrepRequest,
    GrepResult,
    SearchRequest,
    SearchResult,
)
from skerry_api.keys import SigningKey
from skerry_api.sandboxd_api import HEADER_FILE_SIZE, ExecutionRequest, FileList, FileStat, WriteResult
from skerry_runner.sandbox.access import AccessProvider
from skerry_runner.sandbox.backoff import Timing
from skerry_runner.sandbox.errors import (
    CommandTimeout,
    FileTooLarge,
    InvalidCall,
    PathNotFound,
    SandboxError,
    SandboxProtocolError,
)
from skerry_runner.sandbox.process import Process
from skerry_runner.sandbox.remote_process import start_remote
from skerry_runner.sandbox.stream import CommandStream, read_events
from skerry_runner.sandbox.types import (
    DEFAULT_OUTPUT_BYTES,
    DEFAULT_TIMEOUT_SECONDS,
    Capabilities,
    EntryKind,
    ExecResult,
    FileInfo,
    Listing,
    OutputHandler,
    Sandbox,
)
from skerry_runner.sandbox.wire import Attempt, Call, Transient, Wire

__all__ = ["MAX_FILE_BYTES", "RemoteSandbox"]

Model = TypeVar("Model", bound=BaseModel)
Found = TypeVar("Found", bound=SearchResult)

_LOG: Final = logging.getLogger(__name__)
_KILL_SECONDS: Final = 5.0
_MAX_CONNECTIONS: Final = 1000
_MAX_JSON: Final = 16 * 1024 * 1024
MAX_FILE_BYTES: Final = 64 * 1024 * 1024
"""The most `read_file` brings into memory at once."""


class RemoteSandbox(Sandbox):
    """Safe for any number of concurrent calls. Close it to give its connections back."""

    def __init__(
        self,
        sandbox_id: str,
        access: AccessProvider,
        key: SigningKey,
        *,
        timing: Timing | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        new_key: Callable[[], str] = secrets.token_urlsafe,
        capabilities: Capabilities = Capabilities(mounts_thread_data=False),  # noqa: B008  # frozen
    ) -> None:
        self._id = sandbox_id
        self._timing = timing or Timing()
        self._wire = Wire(access, key, self._timing, transport=transport)
        self._new_key = new_key
        self._capabilities = capabilities

    @property
    @override
    def id(self) -> str:
        return self._id

    @property
    @override
    def pod_uid(self) -> str | None:
        return self._wire.pod_uid

    @property
    @override
    def capabilities(self) -> Capabilities:
        return self._capabilities

    @override
    async def execute(
        self,
        command: str,
        *,
        key: str,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        max_output_bytes: int = DEFAULT_OUTPUT_BYTES,
        on_output: OutputHandler | None = None,
    ) -> ExecResult:
        request = _request(
            {
                "key": key,
                "command": command,
                "cwd": cwd,
                "env": dict(env or {}),
                "timeout_seconds": timeout_seconds,
                "max_output_bytes": max_output_bytes,
            }
        )
        stream = CommandStream(max_output_bytes, on_output)
        attempt = await self._wire.begin()
        try:
            return await self._run(request, stream, attempt)
        except (asyncio.CancelledError, CommandTimeout, SandboxProtocolError):
            await self._kill(key, attempt)
            raise

    async def _run(self, request: ExecutionRequest, stream: CommandStream, attempt: Attempt) -> ExecResult:
        body = request.model_dump_json(by_alias=True, exclude_none=True).encode("utf-8")
        # sandboxd enforces the timeout; this one is for a sandboxd that doesn't. Time without a connection
        # is not counted: patience ends that, and a replaced sandbox must be heard of.
        left = request.timeout_seconds + self._timing.command_slack
        for _ in range(_MAX_CONNECTIONS):
            # The same key joins what is running already, from the byte we have.
            call = Call("POST", "/v1/executions", {"after": str(stream.offset)}, body)
            began = self._timing.monotonic()
            why = "its stream ended early"
            try:
                async with asyncio.timeout(max(0.0, left)):
                    if (result := await self._follow(attempt, call, stream)) is not None:
                        return result
            except Transient as error:
                why = str(error)
            except TimeoutError:
                message = (
                    f"The sandbox did not end the command at its timeout of {request.timeout_seconds:g} s."
                )
                raise CommandTimeout(message, stream.chunks) from None
            left -= self._timing.monotonic() - began
            await self._wire.again(attempt, why)
        raise SandboxProtocolError(f"the sandbox broke off its answer {_MAX_CONNECTIONS} times")

    async def _follow(self, attempt: Attempt, call: Call, stream: CommandStream) -> ExecResult | None:
        """Read one connection to its end, so that it can be used again."""
        result = None
        async with (
            self._wire.send(attempt, call) as response,
            aclosing(read_events(response.aiter_raw())) as events,
        ):
            async for event in events:
                attempt.backoff.contact()
                result = stream.feed(event) or result
        return result

    async def _kill(self, key: str, attempt: Attempt) -> None:
        """Best effort, bounded: our caller is on its way out."""
        call = Call("DELETE", f"/v1/executions/{key}", {"graceSeconds": "1"})
        try:
            async with asyncio.timeout(_KILL_SECONDS):
                await self._wire.fetch(call, limit=_MAX_JSON, attempt=attempt)
        except (TimeoutError, SandboxError) as error:
            _LOG.info("kill not confirmed", extra={"key": key, "error": repr(error)})

    @override
    async def start_process(
        self, name: str, command: str, *, cwd: str | None = None, env: Mapping[str, str] | None = None
    ) -> Process:
        return await start_remote(self._wire, name, command, cwd=cwd, env=env or {})

    @override
    async def read_file(self, path: str, *, offset: int = 0, limit: int | None = None) -> bytes:
        most = MAX_FILE_BYTES if limit is None else min(limit, MAX_FILE_BYTES)
        params = {"path": path, "offset": str(offset), "limit": str(most)}
        call = Call("GET", "/v1/files", params, subject=path)
        headers, data = await self._wire.fetch(call, limit=most)
        size = int(headers.get(HEADER_FILE_SIZE, "0"))
        if size - offset > len(data) and (limit is None or limit > MAX_FILE_BYTES):
            raise FileTooLarge(path, f"{path} has {size} bytes; at most {MAX_FILE_BYTES} are read at once")
        return data

    @override
    async def write_file(self, path: str, data: bytes, *, append: bool = False) -> int:
        # Replacing twice is replacing; an append tried again must be known as the same one.
        params = {"path": path} | ({"append": "true", "key": self._new_key()} if append else {})
        return (await self._model(WriteResult, Call("PUT", "/v1/files", params, data, subject=path))).size

    @override
    async def install(self, root: str, files: Mapping[str, bytes]) -> None:
        for entry in (await self.list_dir(root)).entries:
            with contextlib.suppress(PathNotFound):  # a repeated request may find its own work done
                await self._delete(entry.path, {"recursive": "true", "install": "true"})
        for name, data in files.items():
            path = f"{root}/{name}"
            params = {"path": path, "mode": "0444", "install": "true"}
            await self._model(WriteResult, Call("PUT", "/v1/files", params, data, subject=path))

    @override
    async def list_dir(self, path: str, *, depth: int = 1) -> Listing:
        call = Call("GET", "/v1/files/list", {"path": path, "depth": str(depth)}, subject=path)
        found = await self._model(FileList, call)
        return Listing(tuple(_info(entry) for entry in found.entries), found.truncated)

    @override
    async def stat(self, path: str) -> FileInfo:
        return _info(await self._model(FileStat, Call("GET", "/v1/files/stat", {"path": path}, subject=path)))

    @override
    async def find(self, request: FindRequest) -> FindResult:
        return await self._search("find", request, FindResult)

    @override
    async def grep(self, request: GrepRequest) -> GrepResult:
        return await self._search("grep", request, GrepResult)

    async def _search(self, how: str, request: SearchRequest, result: type[Found]) -> Found:
        # Searching twice is searching: the call is safe to be sent again.
        body = request.model_dump_json(by_alias=True, exclude_none=True).encode()
        return await self._model(result, Call("POST", f"/v1/files/{how}", body=body, subject=request.path))

    @override
    async def delete(self, path: str, *, recursive: bool = False) -> None:
        await self._delete(path, {"recursive": "true" if recursive else "false"})

    async def _delete(self, path: str, params: dict[str, str]) -> None:
        call = Call("DELETE", "/v1/files", {"path": path, **params}, subject=path)
        await self._wire.fetch(call, limit=_MAX_JSON)

    @override
    async def close(self) -> None:
        await self._wire.close()

    async def _model(self, model: type[Model], call: Call) -> Model:
        _, data = await self._wire.fetch(call, limit=_MAX_JSON)
        try:
            return model.model_validate_json(data)
        except ValidationError as error:
            raise SandboxProtocolError(f"the sandbox's answer is no {model.__name__}") from error


def _request(fields: Mapping[str, object]) -> ExecutionRequest:
    try:
        return ExecutionRequest.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        path = ".".join(str(part) for part in first["loc"])
        raise InvalidCall(f"{path}: {first['msg']}", path) from error


def _info(entry: FileStat) -> FileInfo:
    return FileInfo(entry.path, EntryKind(entry.kind), entry.size, entry.mode, entry.mtime)
