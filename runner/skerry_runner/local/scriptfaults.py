"""Faults of a script as problems of the field that holds it."""

from __future__ import annotations

from skerry_api.problems import Problem

__all__ = ["script_faults"]


def script_faults(text: str, path: str) -> list[Problem]:
    """One problem, with every fault's line in the script; none for a good script."""
    from skerry_runner.models.scripted.parse import parse_script
    from skerry_runner.outcome import InvalidDocument

    try:
        parse_script(text, source="script")
    except InvalidDocument as error:
        return [Problem(path, str(error).removeprefix("script: "))]
    return []
