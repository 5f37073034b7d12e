"""The real port: kubernetes.aio's client in raw mode, a timeout on every call, errors converted here and nowhere else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlencode

import aiohttp
from kubernetes.aio.client.api_client import ApiClient

from skerry_operator.errors import NotFound, Unknown
from skerry_operator.kube.credentials import Credentials
from skerry_operator.kube.kinds import Kind, Raw
from skerry_operator.kube.port import OPERATOR_MANAGER, Listing, Sink
from skerry_operator.kube.status import error_of

__all__ = ["AioPort"]

_APPLY = "application/apply-patch+yaml"
_JSON = "application/json"
_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
_MANAGER = {"fieldManager": OPERATOR_MANAGER}
_FORCED = {"fieldManager": OPERATOR_MANAGER, "force": "true"}


def _identity(item: Raw) -> Raw:
    """What tells one version of an object from another; annotations of a Pod alone may be 256 KiB."""
    metadata = item["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion")
    return {"metadata": {key: metadata[key] for key in kept if key in metadata}}


@dataclass(frozen=True)
class _Call:
    method: str
    path: str
    where: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Raw | None = None
    accept: str = _JSON
    content: str = _JSON


class AioPort:
    """A KubePort on one connection pool. Use as an async context manager; not shared between event loops."""

    def __init__(self, credentials: Credentials, *, timeout: float = 10.0, chunk: int = 200) -> None:
        """`timeout` bounds each HTTP request in seconds; a list makes one per `chunk` objects."""
        self._credentials = credentials
        self._timeout = timeout
        self._chunk = chunk
        self._client: ApiClient | None = None
        self._login = asyncio.Lock()

    async def __aenter__(self) -> Self:
        await self._connect(None)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._client is not None:
            await self._client.close()  # type: ignore[no-untyped-call]  # the library's
            self._client = None

    async def get(self, kind: Kind, namespace: str, name: str) -> Raw | None:
        try:
            return await self._send(
                _Call("GET", kind.path(namespace, name), f"get {kind.name} {namespace}/{name}")
            )
        except NotFound:
            return None

    async def list(
        self,
        kind: Kind,
        namespace: str | None = None,
        *,
        labels: str = "",
        metadata_only: bool = False,
        sink: Sink | None = None,
    ) -> Listing:
        items: list[Raw] = []
        query: dict[str, str] = {"limit": str(self._chunk)}
        if labels:
            query["labelSelector"] = labels
        accept = _METADATA if metadata_only else _JSON
        while True:
            where = f"list {kind.name} {namespace or ''}".rstrip()
            page = await self._send(_Call("GET", kind.path(namespace), where, query, accept=accept))
            found = page.get("items") or ()
            if sink is not None:
                for item in found:
                    sink(item)
            items += map(_identity, found) if sink is not None or metadata_only else found
            metadata = page["metadata"]
            if not metadata.get("continue"):
                return Listing(tuple(items), metadata["resourceVersion"])
            query["continue"] = metadata["continue"]

    async def create(self, kind: Kind, namespace: str, body: Raw) -> Raw:
        where = f"create {kind.name} {namespace}/{body['metadata'].get('name', '')}"
        return await self._send(_Call("POST", kind.path(namespace), where, _MANAGER, body))

    async def replace(self, kind: Kind, namespace: str, name: str, body: Raw) -> Raw:
        where = f"update {kind.name} {namespace}/{name}"
        return await self._send(_Call("PUT", kind.path(namespace, name), where, _MANAGER, body))

    async def apply(self, kind: Kind, namespace: str, name: str, body: Raw) -> Raw:
        where = f"apply {kind.name} {namespace}/{name}"
        path = kind.path(namespace, name)
        return await self._send(_Call("PATCH", path, where, _FORCED, body, content=_APPLY))

    async def apply_status(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        status: Raw,
        *,
        resource_version: str,
        manager: str = OPERATOR_MANAGER,
    ) -> Raw:
        body = {
            "apiVersion": kind.api_version,
            "kind": kind.name,
            "metadata": {"name": name, "namespace": namespace, "resourceVersion": resource_version},
            "status": status,
        }
        where = f"apply {kind.name}/status {namespace}/{name}"
        path = kind.path(namespace, name, "status")
        query = {"fieldManager": manager, "force": "true"}
        return await self._send(_Call("PATCH", path, where, query, body, content=_APPLY))

    async def delete(
        self, kind: Kind, namespace: str, name: str, *, uid: str, grace_seconds: int | None = None
    ) -> Raw | None:
        options: dict[str, Any] = {"preconditions": {"uid": uid}, "propagationPolicy": "Background"}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        where = f"delete {kind.name} {namespace}/{name}"
        try:
            answer = await self._send(_Call("DELETE", kind.path(namespace, name), where, body=options))
        except NotFound:
            return None
        return answer if answer.get("kind") == kind.name else None

    async def _connect(self, broken: ApiClient | None) -> ApiClient:
        """The client; a new one with credentials read anew in place of `broken`."""
        async with self._login:
            if self._client is broken or self._client is None:
                client = ApiClient(await self._credentials.configuration())
                client.user_agent = "skerry-operator"
                if self._client is not None:
                    await self._client.close()  # type: ignore[no-untyped-call]  # the library's
                self._client = client
            return self._client

    async def _send(self, call: _Call) -> dict[str, Any]:
        client = self._client or await self._connect(None)
        try:
            async with asyncio.timeout(self._timeout):
                status, headers, text = await self._request(client, call)
                if status == 401:  # not carried out: the token was rotated, or its file came late
                    client = await self._connect(client)
                    status, headers, text = await self._request(client, call)
        except TimeoutError as error:
            raise Unknown(f"no answer within {self._timeout:g} s", where=call.where) from error
        except (aiohttp.ClientError, OSError, RuntimeError) as error:
            # RuntimeError: the session was closed under us by another call's new login
            raise Unknown(f"{type(error).__name__}: {error}", where=call.where) from error
        if status >= 300:
            raise error_of(status, text, headers.get("Retry-After"), where=call.where)
        try:
            answer: dict[str, Any] = json.loads(text)
        except ValueError as error:
            raise Unknown(f"an answer that is no JSON ({status})", where=call.where) from error
        return answer

    async def _request(self, client: ApiClient, call: _Call) -> tuple[int, Mapping[str, str], bytes]:
        headers = {"Accept": call.accept, "Content-Type": call.content, **client.default_headers}
        await client.update_params_for_auth(headers, [], ["BearerToken"], call.path, call.method, call.body)
        response = await client.rest_client.request(  # type: ignore[no-untyped-call]  # the library's
            call.method,
            client.configuration.host + call.path + (f"?{urlencode(call.query)}" if call.query else ""),
            headers=headers,
            body=call.body,
            _request_timeout=aiohttp.ClientTimeout(total=self._timeout),
        )
        return response.status, response.headers, await response.read()
