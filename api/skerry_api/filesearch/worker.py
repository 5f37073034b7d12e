"""The search itself, as a process: a request as JSON on stdin, a result as JSON on stdout, a directory by descriptor.

Started by path with `python -I`, so only the standard library and its two neighbours are imported. It walks by
descriptors and follows no link: it can't leave the directory that it was given.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import stat
import sys
import time
from collections.abc import Iterator
from typing import Any, Final

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - pathlib takes its time
    from globs import glob_regex, still_ignored  # type: ignore[import-not-found]  # our neighbour, without its package
    from lines import is_text, line_regex, matching  # type: ignore[import-not-found]  # likewise
else:
    from skerry_api.filesearch.globs import glob_regex, still_ignored
    from skerry_api.filesearch.lines import is_text, line_regex, matching

__all__ = ["search"]

DEPTH_MAX: Final = 64
FILE_MAX: Final = 1024 * 1024
"""Largest file that is looked into on the way, in bytes."""
NAMED_FILE_MAX: Final = 64 * 1024 * 1024
"""Largest file that is looked into when it is what was asked for."""
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_HIDDEN: Final = ".skerry-"
Json = dict[str, Any]


class OutOfTimeError(Exception):
    """The deadline has passed."""


class Search:
    """One search; `result` grows as it goes, so that there is something to show when time runs out."""

    def __init__(self, request: Json, result: Json) -> None:
        self._request, self.result = request, result
        self._deadline = time.monotonic() + request["seconds"]
        glob = request.get("glob")
        self._glob = glob_regex(glob) if glob else None
        ignored = still_ignored(tuple(request["ignore"]), glob)
        self._ignored = re.compile("|".join(fnmatch.translate(p) for p in ignored)) if ignored else None

    def check_time(self) -> None:
        if time.monotonic() > self._deadline:
            raise OutOfTimeError

    def wanted(self, path: str) -> bool:
        return self._glob is None or self._glob.match(path) is not None

    def add(self, key: str, item: Json) -> bool:
        """Whether there is room for more."""
        found = self.result[key]
        if len(found) >= self._request["limit"]:
            self.result["truncated"] = True
            return False
        found.append(item)
        return True

    def walk(
        self, directory: int, prefix: str = "", depth: int = 1
    ) -> Iterator[tuple[int, str, str, os.DirEntry[str]]]:
        """Entries below: (descriptor of their directory, name, path, entry), sorted, a directory before its entries."""
        self.check_time()
        with os.scandir(directory) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
        for entry in listed:
            if entry.name.startswith(_HIDDEN):
                continue
            if self._ignored is not None and self._ignored.match(entry.name):
                self.result["ignored"] += 1
                continue
            path = prefix + entry.name
            yield directory, entry.name, path, entry
            if entry.is_dir(follow_symlinks=False):
                yield from self._below(directory, entry.name, path, depth)

    def _below(self, directory: int, name: str, path: str, depth: int) -> Iterator[Any]:
        if depth >= DEPTH_MAX:
            self.result["unreadable"] += 1
            return
        try:
            child = os.open(name, _DIRECTORY, dir_fd=directory)
        except OSError:  # not ours to read, or gone meanwhile
            self.result["unreadable"] += 1
            return
        try:
            yield from self.walk(child, path + "/", depth + 1)
        finally:
            os.close(child)


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "symlink"
    if entry.is_dir(follow_symlinks=False):
        return "directory"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


def _shown(prefix: str, path: str) -> str:
    return prefix + os.fsencode(path).decode("utf-8", "replace")


def _find(search: Search, request: Json) -> None:
    for _, _, path, entry in search.walk(request["fd"]):
        kind = _kind(entry)
        if (kind != "directory" or request["directories"]) and search.wanted(path):
            item = {"path": _shown(request["prefix"], path), "kind": kind}
            if not search.add("paths", item):
                return


def _grep(search: Search, request: Json) -> None:
    regex = line_regex(
        request["pattern"], literal=request["literal"], case_sensitive=request["caseSensitive"]
    )
    if request.get("file") is not None:
        _grep_file(search, request["fd"], request["file"], request["prefix"], regex, NAMED_FILE_MAX)
        return
    for directory, name, path, entry in search.walk(request["fd"]):
        if entry.is_file(follow_symlinks=False) and search.wanted(path):
            shown = _shown(request["prefix"], path)
            if not _grep_file(search, directory, name, shown, regex, FILE_MAX):
                return


def _grep_file(  # noqa: PLR0917 - one call's facts
    search: Search, directory: int, name: str, shown: str, regex: re.Pattern[str], most: int
) -> bool:
    search.check_time()
    result = search.result
    try:
        with os.fdopen(os.open(name, _FILE, dir_fd=directory), "rb") as file:
            info = os.fstat(file.fileno())
            data = file.read(most + 1) if stat.S_ISREG(info.st_mode) else None
    except OSError:
        data = None
    if data is None:
        result["unreadable"] += 1
    elif len(data) > most:
        result["skippedLarge"] += 1
    elif not is_text(data):
        result["skippedBinary"] += 1
    else:
        result["files"] += 1
        for found in matching(data, regex):
            if found is None:
                result["skippedLines"] += 1
            elif not search.add("matches", {"path": shown, "line": found[0], "text": found[1]}):
                return False
    return True


def search(request: Json) -> Json:
    """Carry a request out. What is wrong with it comes back as {"error": {field, message}}."""
    result: Json = {"truncated": False, "incomplete": False, "ignored": 0, "unreadable": 0}
    grep = "pattern" in request
    result |= (
        {"matches": [], "files": 0, "skippedLarge": 0, "skippedBinary": 0, "skippedLines": 0}
        if grep
        else {"paths": []}
    )
    field = "glob"
    try:
        prepared = Search(request, result)
        field = "pattern"
        (_grep if grep else _find)(prepared, request)
    except OutOfTimeError:
        result["incomplete"] = True
    except ValueError as error:
        return {"error": {"field": field, "message": str(error)}}
    return result


if __name__ == "__main__":
    asked = json.load(sys.stdin) | {"fd": int(os.environ["SKERRY_DIRECTORY"])}
    sys.stdout.buffer.write(json.dumps(search(asked)).encode("utf-8", "replace"))
