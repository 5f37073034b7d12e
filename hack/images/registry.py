"""Asks a registry whether it has an image already."""

from __future__ import annotations

import urllib.error
import urllib.request

__all__ = ["pushed_digest"]

_MANIFESTS = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)


def pushed_digest(address: str, repository: str, tag: str, *, timeout: float = 10) -> str | None:
    """Digest of `address/repository:tag` over plain HTTP; None if the registry does not have it.

    Raises:
        urllib.error.URLError: the registry can't be reached or refuses to say.
    """
    url = f"http://{address}/v2/{repository}/manifests/{tag}"
    request = urllib.request.Request(url, method="HEAD", headers={"Accept": ", ".join(_MANIFESTS)})
    # No proxy: the registry is a neighbour.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=timeout) as response:
            return str(response.headers.get("Docker-Content-Digest") or "") or None
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise
