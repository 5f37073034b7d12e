"""The files of the own run, in its Pod: inline ones from the run itself, others where the operator has mounted them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from skerry_api.files import RunFile
from skerry_runner.files import GivenFile

__all__ = ["UnreadableFiles", "read_files"]

_FILES = TypeAdapter(tuple[RunFile, ...])


class UnreadableFiles(Exception):
    """A file can't be had; the message begins with its field."""


def read_files(spec: Mapping[str, Any], mounted: Path) -> tuple[GivenFile, ...]:
    """The files of a run's spec as the API server gives it. Blocking.

    `mounted` holds the values of ConfigMaps, each named by its file's index.

    Raises:
        UnreadableFiles: the spec makes no sense to this runner, or what should be mounted is not there.
    """
    try:
        files = _FILES.validate_python(spec.get("files") or ())
    except ValidationError as error:
        raise UnreadableFiles(f"spec.files: {error.errors()[0]['msg']}") from error
    return tuple(GivenFile(file.name, _data(index, file, mounted)) for index, file in enumerate(files))


def _data(index: int, file: RunFile, mounted: Path) -> bytes:
    if file.config_map_key_ref is None:
        return (file.inline or "").encode("utf-8", "surrogatepass")
    try:
        return (mounted / str(index)).read_bytes()
    except OSError as error:
        ref = file.config_map_key_ref
        raise UnreadableFiles(
            f"spec.files[{index}].configMapKeyRef: {ref.key} of ConfigMap {ref.name} can't be read: {error.strerror}"
        ) from error
