"""The files of a run on this machine: from its spec, from ConfigMaps beside it, and from the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from skerry_api.agentrun import AgentRun
from skerry_api.files import FILES_MAX
from skerry_api.problems import Problem
from skerry_runner.files import GivenFile

__all__ = ["BYTES_MAX", "given_files"]

BYTES_MAX = 64 * 1024 * 1024
"""The most that files may have in all: they are held in memory until there is a sandbox."""


def given_files(
    run: AgentRun, contents: Mapping[tuple[str, str], bytes], further: Iterable[GivenFile]
) -> tuple[tuple[GivenFile, ...], list[Problem]]:
    """The files, those of the command line in place of others with their names; and what keeps them from being had.

    `contents` are values of ConfigMaps by (name, key).
    """
    files: dict[str, GivenFile] = {}
    problems: list[Problem] = []
    for index, file in enumerate(run.spec.files):
        ref = file.config_map_key_ref
        data = (file.inline or "").encode() if ref is None else contents.get((ref.name, ref.key))
        if data is None and ref is not None:
            path = f"spec.files[{index}].configMapKeyRef"
            problems.append(Problem(path, f"there is no ConfigMap {ref.name} with key {ref.key}"))
        files[file.name] = GivenFile(file.name, data or b"")
    for given in further:
        files[given.name] = given
    if len(files) > FILES_MAX:
        problems.append(
            Problem("spec.files", f"{len(files)} files with those of --file; at most {FILES_MAX}")
        )
    if (size := sum(len(file.data) for file in files.values())) > BYTES_MAX:
        problems.append(Problem("spec.files", f"{size} bytes with those of --file; at most {BYTES_MAX}"))
    return tuple(files.values()), problems
