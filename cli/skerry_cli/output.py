"""The ways to print a result. Light to import: the options are made of it."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["ListOutput", "Output"]


class Output(StrEnum):
    """How `skerry run` prints the end."""

    TEXT = "text"
    JSON = "json"
    YAML = "yaml"


class ListOutput(StrEnum):
    """How a list is printed."""

    TEXT = "text"
    JSON = "json"
