"""A file that a run brings along, with its contents."""

from __future__ import annotations

from dataclasses import dataclass

from skerry_runner.paths import UPLOADS

__all__ = ["GivenFile"]


@dataclass(frozen=True)
class GivenFile:
    """`name` has no slash in it: whoever makes one has checked that."""

    name: str
    data: bytes

    @property
    def path(self) -> str:
        """Where the agent finds it."""
        return f"{UPLOADS}/{self.name}"
