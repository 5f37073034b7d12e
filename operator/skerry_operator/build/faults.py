"""A spec that can't be built from, with the field at fault."""

from __future__ import annotations

__all__ = ["InvalidSpecError"]


class InvalidSpecError(ValueError):
    """`path` is a field path such as `spec.model.name`, with the kind and name of another object before it."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message
