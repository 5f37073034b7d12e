"""Dotted paths to classes of a user's own."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

__all__ = ["DottedPath"]

_IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_]*"
DottedPath = Annotated[
    str,
    StringConstraints(
        min_length=3,
        max_length=253,
        pattern=rf"^{_IDENTIFIER}(\.{_IDENTIFIER})*:{_IDENTIFIER}$",
    ),
]
"""`package.module:Class`."""
