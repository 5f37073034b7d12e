"""A user's own middlewares: found by their dotted paths, built with the settings of the profile."""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware

from skerry_api.pipeline import CustomRow
from skerry_runner.compose.rows import hooks_of
from skerry_runner.outcome import InvalidDocument
from skerry_runner.rowspec import AnyRow

__all__ = ["NotInstalled", "argument", "build_custom", "tool_names"]

_REASON = "InvalidMiddleware"


class NotInstalled(InvalidDocument):
    """The class's package is not on this machine; it may be in a runner's image."""


def argument(text: str) -> Any:
    """A setting's value: JSON where it parses as such, else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def build_custom(row: CustomRow, index: int) -> AnyRow:
    """Import and make the row.

    Raises:
        InvalidDocument: there is no such class, it is no middleware, it does not take these settings, or it lacks the
            asynchronous form of a wrap hook. NotInstalled, if its package is not here.
    """
    where = f"spec.pipeline.custom[{index}]"
    module, _, name = row.path.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except Exception as error:
        # An import runs the user's code: anything may come of it.
        kind = NotInstalled if _missing(error, module) else InvalidDocument
        raise kind(_REASON, f"{where}.path", f"{row.path} can't be imported: {_told(error)}") from error
    if not (isinstance(found, type) and issubclass(found, AgentMiddleware)):
        raise _invalid(f"{where}.path", f"{row.path} is no AgentMiddleware")
    try:
        made: AnyRow = found(**{key: argument(text) for key, text in row.settings.items()})
        hooks_of(made)
    except Exception as error:
        raise _invalid(where, f"{row.path} can't be made: {_told(error)}") from error
    return made


def tool_names(rows: Sequence[CustomRow]) -> frozenset[str]:
    """Names of the tools that the rows bring; each row is made for it. Raises InvalidDocument."""
    made = [build_custom(row, index) for index, row in enumerate(rows)]
    # LangChain gives the attribute to classes that bring tools alone.
    return frozenset(tool.name for row in made for tool in getattr(row, "tools", ()))


def _missing(error: Exception, module: str) -> bool:
    """Whether it is the module itself, or a package above it, that is not there."""
    lacking = error.name if isinstance(error, ModuleNotFoundError) else None
    return lacking is not None and f"{module}.".startswith(f"{lacking}.")


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _invalid(path: str, problem: str) -> InvalidDocument:
    return InvalidDocument(_REASON, path, problem)
