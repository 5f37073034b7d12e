"""How long a database that does not answer is waited for."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Patience"]


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds all. in_all: for one operation with its retries. attempt: for one try. first, most: between tries."""

    in_all: float = 60
    attempt: float = 20
    first: float = 0.1
    most: float = 5
