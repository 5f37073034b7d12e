"""Connection strings: what is secret in one, and whether it is one. Errors never quote it."""

from __future__ import annotations

from typing import Any

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from skerry_runner.persistence.errors import StateUnusable

__all__ = ["parsed", "password_of"]


def parsed(dsn: str) -> dict[str, Any]:
    """Its parts by libpq's names. Raises StateUnusable."""
    try:
        return dict(conninfo_to_dict(dsn))
    except (ProgrammingError, UnicodeError, ValueError):
        # The library's message holds parts of the string.
        raise StateUnusable("the connection string is neither a PostgreSQL URI nor keywords") from None


def password_of(dsn: str) -> str | None:
    """The password in it, if it has one and can be read at all."""
    try:
        return parsed(dsn).get("password")
    except StateUnusable:
        return None
