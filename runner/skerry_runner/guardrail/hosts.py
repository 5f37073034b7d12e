"""Hosts in URLs, and whether a list names them. Pure.

A host is read as a client would: user and port apart, any case, a dot at the end, numbers for addresses.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

__all__ = ["host_fits", "hosts_of"]

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[/\\]{2,}[^\s'\"<>|;)]*")
_CONTROL = re.compile(r"[\x00-\x20\x7f]")
_NUMERIC = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)(\.(0[xX][0-9a-fA-F]+|\d+)){0,3}")


def hosts_of(value: str) -> list[str | None]:
    """The hosts of all URLs in a text; of one without any, that of the text as a URL. None: one can't be told."""
    urls = _URL.findall(value)
    if urls:
        return [_host(url) for url in urls]
    text = value.strip()
    if not text or _CONTROL.search(text):
        return []
    return [_host(f"//{text}" if not text.startswith("//") else text)]


def _host(url: str) -> str | None:
    # Browsers and some clients take a backslash for a slash.
    text = re.sub(
        r"^([A-Za-z][A-Za-z0-9+.-]*:)?/{2,}", lambda m: f"{m.group(1) or ''}//", url.replace("\\", "/")
    )
    try:
        parts = urlsplit(text)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        return None
    return _normal(host) if host else None


def _normal(host: str) -> str | None:
    bare = host.rstrip(".").lower()
    if address := _address(bare):
        return address
    try:
        return bare.encode("idna").decode() if not bare.isascii() else bare or None
    except UnicodeError:
        return None


def _address(host: str) -> str | None:
    try:
        found = ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        if not _NUMERIC.fullmatch(host):
            return None
        try:
            # 127.1, 0x7f000001 and 2130706433 are what a C library makes of them.
            return str(ipaddress.ip_address(socket.inet_aton(host)))
        except OSError:
            return None
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return str(mapped or found)


def host_fits(host: str, patterns: Sequence[str]) -> bool:
    """Whether one of the patterns names the host."""
    return any(_fits(host, pattern) for pattern in patterns)


def _fits(host: str, pattern: str) -> bool:
    if pattern == "*":
        return True
    if pattern.startswith("*."):
        return host.endswith("." + pattern[2:].rstrip(".").lower())
    if "/" in pattern:
        try:
            return ipaddress.ip_address(host) in ipaddress.ip_network(pattern, strict=False)
        except ValueError:
            return False
    return host == _normal(pattern.strip("[]"))
