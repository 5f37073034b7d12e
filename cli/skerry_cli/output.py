"""The ways to print a result. Light to import: the options are made of it."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Output"]


class Output(StrEnum):
    """How `skerry run` prints the end."""

    TEXT = "text"
    JSON = "json"
    YAML = "yaml"
