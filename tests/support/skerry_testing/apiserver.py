"""A small asynchronous client of a real API server for tests: raw JSON in and out, every option in the open."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any, Literal, Self

import httpx

from skerry_testing.access import Access
from skerry_testing.apierrors import ApiError, raise_for_status
from skerry_testing.resources import resource_of

__all__ = ["ApiServer", "Json"]

Json = dict[str, Any]
Jsons = list[Json]
"""Named here, since `list` means the method inside the class."""
RECONNECT_SECONDS = 0.1
PATCH_TYPES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}


class ApiServer:
    """As one identity, in one namespace. All methods raise ApiError when refused.

    Close with `await api.close()` or use `async with`; children of `as_token` and `as_user` share the lifetime
    of their parent's namespace but not its connection: close them as well.
    """

    def __init__(self, access: Access, namespace: str = "", headers: Mapping[str, str] | None = None) -> None:
        self.access = access
        self.namespace = namespace
        self._headers = dict(headers or {})
        if access.token:
            self._headers["Authorization"] = f"Bearer {access.token}"
        self.http = httpx.AsyncClient(
            base_url=access.server,
            verify=access.anonymous_tls if access.token else access.tls,
            headers=self._headers,
            timeout=30,
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self.http.aclose()

    # Identities

    def as_token(self, token: str) -> ApiServer:
        """The same server with a bearer token, e.g. one of `token_for`."""
        return ApiServer(self.access.with_token(token), self.namespace)

    def as_user(self, user: str, *groups: str, **extra: str) -> ApiServer:
        """Impersonation; keys of extra may hold anything: `**{"authentication.kubernetes.io/pod-name": "p"}`."""
        names = [("Impersonate-User", user), *(("Impersonate-Group", group) for group in groups)]
        names += [(f"Impersonate-Extra-{key.replace('/', '%2f')}", value) for key, value in extra.items()]
        child = ApiServer(self.access, self.namespace)
        child.http.headers = httpx.Headers([*child.http.headers.items(), *names])
        return child

    async def token_for(self, service_account: str, pod: Json | None = None, seconds: int = 3600) -> str:
        """A ServiceAccount token, bound to a Pod if one is given (its admission then names that Pod)."""
        spec: Json = {"expirationSeconds": seconds}
        if pod:
            meta = pod["metadata"]
            spec["boundObjectRef"] = {
                "apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"],
            }  # fmt: skip
        path = resource_of("ServiceAccount").path(self.namespace, service_account, "token")
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        answer = await self._send("POST", path, json=body)
        return str(answer["status"]["token"])

    # Objects

    async def create(self, body: Json, *, dry_run: bool = False, validation: str = "Strict") -> Json:
        kind = body["kind"]
        path = self._path(kind, namespace=body.get("metadata", {}).get("namespace"))
        params = {"fieldValidation": validation, **({"dryRun": "All"} if dry_run else {})}
        return await self._send("POST", path, json=body, params=params)

    async def get(self, kind: str, name: str) -> Json:
        return await self._send("GET", self._path(kind, name))

    async def find(self, kind: str, name: str) -> Json | None:
        """Like get, but None when there is no such object."""
        try:
            return await self.get(kind, name)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    async def list(self, kind: str, *, labels: str = "", fields: str = "") -> Jsons:
        answer = await self._send("GET", self._path(kind), params=_selectors(labels, fields))
        resource = resource_of(kind)
        # Items of built-in lists come without their type.
        return [{"apiVersion": resource.api_version, "kind": kind, **item} for item in answer["items"]]

    async def replace(self, body: Json, *, subresource: str = "", dry_run: bool = False) -> Json:
        path = self._path(body["kind"], body["metadata"]["name"], subresource)
        params = {"fieldValidation": "Strict", **({"dryRun": "All"} if dry_run else {})}
        return await self._send("PUT", path, json=body, params=params)

    async def patch(
        self,
        kind: str,
        name: str,
        patch: Json | Jsons,
        *,
        subresource: str = "",
        how: Literal["merge", "json", "strategic"] = "merge",
    ) -> Json:
        headers = {"Content-Type": PATCH_TYPES[how]}
        params = {"fieldValidation": "Strict"}
        path = self._path(kind, name, subresource)
        return await self._send("PATCH", path, content=json.dumps(patch), headers=headers, params=params)

    async def apply(
        self, body: Json, manager: str = "test", *, force: bool = True, subresource: str = ""
    ) -> Json:
        """Server-side apply; what the manager applied before and now leaves out is removed."""
        kind, meta = body["kind"], body["metadata"]
        path = self._path(kind, meta["name"], subresource, namespace=meta.get("namespace"))
        params = {"fieldManager": manager, "force": str(force).lower()}
        headers = {"Content-Type": "application/apply-patch+yaml"}
        return await self._send("PATCH", path, content=json.dumps(body), headers=headers, params=params)

    async def apply_status(
        self, kind: str, name: str, status: Json, manager: str, *, version: str | None = None
    ) -> Json:
        """Apply a manager's whole set of status fields, on the given resourceVersion if one is given."""
        meta = {"name": name, **({"resourceVersion": version} if version else {})}
        body = {
            "apiVersion": resource_of(kind).api_version, "kind": kind, "metadata": meta, "status": status,
        }  # fmt: skip
        return await self.apply(body, manager, subresource="status")

    async def delete(
        self, kind: str, name: str, *, uid: str | None = None, grace: int | None = None, cascade: str = ""
    ) -> Json:
        options: Json = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if uid:
            options["preconditions"] = {"uid": uid}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        if cascade:
            options["propagationPolicy"] = cascade
        return await self._send("DELETE", self._path(kind, name), json=options)

    async def delete_all(self, kind: str, *, labels: str = "") -> None:
        """Every object of a kind in this namespace, without grace."""
        params = {**_selectors(labels, ""), "gracePeriodSeconds": "0"}
        await self._send("DELETE", self._path(kind), params=params)

    # Watching

    @asynccontextmanager
    async def watch(
        self, kind: str, *, version: str = "", labels: str = "", fields: str = ""
    ) -> AsyncIterator[AsyncIterator[Json]]:
        """Events `{type, object}`, from the given resourceVersion on, or first all that is there."""
        params = {**_selectors(labels, fields), "watch": "1", "allowWatchBookmarks": "false"}
        params |= {"resourceVersion": version} if version else {}
        timeout = httpx.Timeout(30, read=None)
        async with self.http.stream("GET", self._path(kind), params=params, timeout=timeout) as response:
            if not response.is_success:
                await response.aread()
                raise_for_status(response)
            yield _events(response)

    async def wait_for(
        self, kind: str, name: str, holds: Callable[[Json], bool], *, within: float = 60
    ) -> Json:
        """The object, as soon as it is there and `holds`. Raises AssertionError showing it when it never does."""
        last: Json | None = None
        try:
            async with asyncio.timeout(within), aclosing(self._changes(kind, name)) as changes:
                async for event in changes:
                    last = event["object"]
                    if event["type"] != "DELETED" and holds(event["object"]):
                        break
        except TimeoutError:
            raise AssertionError(f"{kind} {name} did not come to it:\n{json.dumps(last, indent=1)}") from None
        return last or {}

    async def wait_gone(self, kind: str, name: str, *, within: float = 60) -> None:
        """Return once there is no such object. Raises AssertionError showing it when it stays."""
        last = await self.find(kind, name)
        if last is None:
            return
        try:
            async with asyncio.timeout(within), aclosing(self._changes(kind, name, last)) as changes:
                async for event in changes:
                    last = event["object"]
                    if event["type"] == "DELETED":
                        break
        except TimeoutError:
            raise AssertionError(f"{kind} {name} stayed:\n{json.dumps(last, indent=1)}") from None

    async def _changes(self, kind: str, name: str, last: Json | None = None) -> AsyncGenerator[Json]:
        """What happens to one object, which was `last`, for as long as one listens and through restarts.

        Lists before each watch: a server that was just started knows no older versions of custom resources.
        """
        only = f"metadata.name={name}"
        while True:
            try:
                found = await self._send("GET", self._path(kind), params={"fieldSelector": only})
                for item in found["items"]:
                    yield {"type": "ADDED", "object": item}
                if last is not None and not found["items"]:
                    yield {"type": "DELETED", "object": last}
                last = found["items"][0] if found["items"] else None
                version = found["metadata"]["resourceVersion"]
                async with self.watch(kind, fields=only, version=version) as events:
                    async for event in events:
                        last = None if event["type"] == "DELETED" else event["object"]
                        yield event
            except httpx.TransportError:
                pass
            except ApiError as error:
                if not error.passing:
                    raise
            await asyncio.sleep(RECONNECT_SECONDS)

    def _path(self, kind: str, name: str = "", subresource: str = "", namespace: str | None = None) -> str:
        return resource_of(kind).path(namespace or self.namespace, name, subresource)

    async def _send(self, method: str, path: str, **options: Any) -> Json:
        response = await self.http.request(method, path, **options)
        raise_for_status(response)
        answer: Json = response.json()
        return answer


def _selectors(labels: str, fields: str) -> dict[str, str]:
    pairs = {"labelSelector": labels, "fieldSelector": fields}
    return {key: value for key, value in pairs.items() if value}


async def _events(response: httpx.Response) -> AsyncIterator[Json]:
    async for line in response.aiter_lines():
        event: Json = json.loads(line)
        if event["type"] == "ERROR":  # Such as: the version is too old.
            status = event["object"]
            raise ApiError(status.get("code", 0), status.get("reason", ""), status.get("message", ""))
        yield event
