"""The few calls to the API server that bringing a cluster up needs."""

from __future__ import annotations

import http
import http.client
import json
import ssl
from pathlib import Path
from typing import Any

from skerry_devcluster.errors import DevClusterError

__all__ = ["ApiError", "KubeApi"]

# Refused, reset, timed out or a certificate that isn't there yet: not ready, that is all.
_UNREACHABLE = (OSError, http.client.HTTPException)


class ApiError(DevClusterError):
    """The API server refused: its status code and message."""

    def __init__(self, method: str, path: str, status: int, body: str) -> None:
        super().__init__(f"{method} {path}: {status} {body[:500]}")
        self.status = status


class KubeApi:
    """An admin's connection, one per call: the server may restart between them."""

    def __init__(self, address: str, pki: Path, *, timeout: float = 5) -> None:
        self._address = address
        self._timeout = timeout
        self._context = ssl.create_default_context(cafile=str(pki / "ca.crt"))
        self._context.load_cert_chain(pki / "admin.crt", pki / "admin.key")

    def _call(
        self, method: str, path: str, body: str | None = None, content_type: str = ""
    ) -> tuple[int, str]:
        connection = http.client.HTTPSConnection(
            self._address, 6443, timeout=self._timeout, context=self._context
        )
        try:
            headers = {"Content-Type": content_type} if content_type else {}
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, response.read().decode(errors="replace")
        finally:
            connection.close()

    def ready(self) -> bool:
        try:
            return self._call("GET", "/readyz")[0] == http.HTTPStatus.OK
        except _UNREACHABLE:
            return False

    def get(self, path: str) -> dict[str, Any] | None:
        """The object, None if it does not exist or the server can't be reached just now.

        Raises:
            ApiError: the server refuses the request.
        """
        try:
            status, text = self._call("GET", path)
        except _UNREACHABLE:
            return None
        if status == http.HTTPStatus.NOT_FOUND or status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
            return None
        if status != http.HTTPStatus.OK:
            raise ApiError("GET", path, status, text)
        document: dict[str, Any] = json.loads(text)
        return document

    def apply(self, path: str, document: dict[str, Any]) -> None:
        """Server-side apply of one object.

        Raises:
            ApiError: the server refuses it or can't be reached.
        """
        query = f"{path}?fieldManager=skerry-dev&force=true"
        try:
            status, text = self._call("PATCH", query, json.dumps(document), "application/apply-patch+yaml")
        except _UNREACHABLE as error:
            raise ApiError("PATCH", path, 0, str(error)) from error
        if status not in {http.HTTPStatus.OK, http.HTTPStatus.CREATED}:
            raise ApiError("PATCH", path, status, text)

    def delete(self, path: str) -> None:
        """Delete one object; one that is gone is as good.

        Raises:
            ApiError: the server refuses or can't be reached.
        """
        try:
            status, text = self._call("DELETE", path)
        except _UNREACHABLE as error:
            raise ApiError("DELETE", path, 0, str(error)) from error
        if status not in {http.HTTPStatus.OK, http.HTTPStatus.ACCEPTED, http.HTTPStatus.NOT_FOUND}:
            raise ApiError("DELETE", path, status, text)
