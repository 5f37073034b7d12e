"""How to reach an API server: address and credentials out of a kubeconfig."""

from __future__ import annotations

import base64
import ssl
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import yaml

__all__ = ["Access"]


@dataclass(frozen=True)
class Access:
    """An API server and who one is there. `kubeconfig` is the admin's, for kubectl and other processes."""

    server: str
    tls: ssl.SSLContext
    """Carries the admin's client certificate."""
    anonymous_tls: ssl.SSLContext
    """Carries none: with a certificate the server would look at no token."""
    kubeconfig: Path
    ca_pem: str
    token: str | None = None

    @classmethod
    def from_kubeconfig(cls, path: Path) -> Self:
        """Raises KeyError or OSError when the file lacks what a client certificate login needs."""
        config = yaml.safe_load(path.read_text(encoding="utf-8"))
        context = _named(config["contexts"], config["current-context"])["context"]
        cluster = _named(config["clusters"], context["cluster"])["cluster"]
        user = _named(config["users"], context["user"])["user"]
        ca_pem = _pem(cluster, "certificate-authority", path).decode()
        tls = ssl.create_default_context(cadata=ca_pem)
        with tempfile.TemporaryDirectory() as scratch:
            certificate, key = Path(scratch, "crt"), Path(scratch, "key")
            certificate.write_bytes(_pem(user, "client-certificate", path))
            key.write_bytes(_pem(user, "client-key", path))
            tls.load_cert_chain(certificate, key)
        return cls(cluster["server"], tls, ssl.create_default_context(cadata=ca_pem), path, ca_pem)

    def with_token(self, token: str) -> Access:
        return replace(self, token=token)


def _named(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(entry for entry in entries if entry["name"] == name)


def _pem(section: dict[str, Any], key: str, kubeconfig: Path) -> bytes:
    if f"{key}-data" in section:
        return base64.b64decode(str(section[f"{key}-data"]))
    return (kubeconfig.parent / str(section[key])).read_bytes()
