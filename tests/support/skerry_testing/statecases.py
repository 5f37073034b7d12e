"""Places where state is kept, for tests that must hold for each of them."""

from __future__ import annotations

from pathlib import Path

from skerry_api.persistence import PersistenceType
from skerry_runner.persistence.opening import StatePlace
from skerry_runner.persistence.patience import Patience

__all__ = ["SHORT", "place_in"]

SHORT = Patience(in_all=2, attempt=1, first=0.01, most=0.05)
"""For databases that a test takes away for good."""


def place_in(kind: PersistenceType, directory: Path, dsn: str | None = None) -> StatePlace:
    return StatePlace(kind, directory, dsn)
