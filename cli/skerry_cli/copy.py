"""`skerry cp`: files and directories into a sandbox and out of it."""

from __future__ import annotations

import asyncio
import secrets
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from skerry_api.sandboxd_api import HEADER_FILE_SIZE, FileKind, FileList, FileStat, Reason
from skerry_cli.bridge import Door, Refused
from skerry_cli.entry import by_kubectl, entered
from skerry_cli.kubectl import Kubectl

__all__ = ["BadCopy", "Remote", "below", "copy", "parse"]

_WORKSPACE = PurePosixPath("/mnt/user-data/workspace")
_CHUNK = 256 * 1024
_PERMISSIONS = 0o777


class BadCopy(Exception):
    """What is asked for can't be done; the message is for people."""


@dataclass(frozen=True)
class Remote:
    """A path in a sandbox: an AgentRun's name or sbx/NAME, and an absolute path."""

    name: str
    path: PurePosixPath


def parse(text: str) -> Remote | Path:
    """`NAME:PATH` is in a sandbox, below the workspace unless absolute; everything else is here, as is ./a:b."""
    name, colon, path = text.partition(":")
    if not colon or not name or name.startswith((".", "/")):
        return Path(text)
    return Remote(name, _WORKSPACE / (path or "."))


def copy(source: str, target: str, namespace: str | None, context: str | None) -> int:
    """0: done; 1: some files could not be copied; 2: none could."""
    return by_kubectl(
        lambda kubectl: _copied(kubectl, parse(source), parse(target)), namespace, context, BadCopy
    )


async def _copied(kubectl: Kubectl, source: Remote | Path, target: Remote | Path) -> int:
    try:
        problems = await _copy(kubectl, source, target)
    except OSError as error:
        raise BadCopy(f"{error.filename}: {error.strerror}") from error
    for problem in problems:
        print(f"skerry: {problem}", file=sys.stderr)
    return 1 if problems else 0


async def _copy(kubectl: Kubectl, source: Remote | Path, target: Remote | Path) -> list[str]:
    match source, target:
        case Path(), Remote():
            async with entered(kubectl, target.name) as (door, _):
                return await _upload(door, source, target.path)
        case Remote(), Path():
            async with entered(kubectl, source.name) as (door, _):
                return await _download(door, source.path, target)
        case _:
            raise BadCopy("one of the two must be in a sandbox, as NAME:PATH, and the other here")


async def _upload(door: Door, source: Path, target: PurePosixPath) -> list[str]:
    local = await asyncio.to_thread(_look, source)
    found = await _stat(door, target)
    if found is not None and found.kind is FileKind.DIRECTORY:
        target /= local.name
    if local.below is None:
        await _put(door, source, target, local.mode)
        return []
    problems = list(local.passed_over)
    for path, mode in local.below:
        try:
            await _put(door, path, target / path.relative_to(source).as_posix(), mode)
        except (OSError, Refused) as error:
            problems.append(f"{path}: {error}")
    return problems


@dataclass(frozen=True)
class _Local:
    """What is to be sent: of a directory, the files `below` it with their permissions."""

    name: str
    mode: int
    below: tuple[tuple[Path, int], ...] | None
    passed_over: tuple[str, ...] = ()


def _look(source: Path) -> _Local:
    info = source.stat()
    name, mode = source.resolve().name, info.st_mode & _PERMISSIONS
    if not stat.S_ISDIR(info.st_mode):
        return _Local(name, mode, None)
    files, others = [], []
    for path in sorted(source.rglob("*")):
        found = path.lstat().st_mode
        if stat.S_ISREG(found):
            files.append((path, found & _PERMISSIONS))
        elif not stat.S_ISDIR(found):
            others.append(f"{path}: neither a file nor a directory, passed over")
    return _Local(name, mode, tuple(files), tuple(others))


async def _put(door: Door, source: Path, target: PurePosixPath, mode: int) -> None:
    await door.call("PUT", "/v1/files", content=_chunks(source), path=str(target), mode=f"{mode:03o}")


async def _chunks(source: Path) -> AsyncIterator[bytes]:
    with source.open("rb") as file:
        while data := await asyncio.to_thread(file.read, _CHUNK):
            yield data


async def _download(door: Door, source: PurePosixPath, target: Path) -> list[str]:
    found = await _stat(door, source)
    if found is None:
        raise BadCopy(f"{source}: no such file in the sandbox")
    if await asyncio.to_thread(target.is_dir):
        target /= source.name or "files"
    if found.kind is not FileKind.DIRECTORY:
        await _get(door, source, target, found.mode)
        return []
    problems: list[str] = []
    target.mkdir(parents=True, exist_ok=True)
    directories = [source]
    while directories:
        listing = await _list(door, directories.pop())
        if listing.truncated:
            problems.append(f"{listing.path}: there is more than one listing holds")
        for each in listing.entries:
            place = below(source, each.path)
            if place is None or each.kind in {FileKind.SYMLINK, FileKind.OTHER}:
                problems.append(f"{each.path}: neither a file nor a directory, passed over")
            elif each.kind is FileKind.DIRECTORY:
                (target / place).mkdir(parents=True, exist_ok=True)
                directories.append(PurePosixPath(each.path))
            else:
                try:
                    await _get(door, PurePosixPath(each.path), target / place, each.mode)
                except (OSError, Refused) as error:
                    problems.append(f"{each.path}: {error}")
    return problems


def below(directory: PurePosixPath, path: str) -> PurePosixPath | None:
    """Where a listed path goes below the target; None where it leaves the directory: the sandbox is not trusted."""
    listed = PurePosixPath(path)
    if not listed.is_relative_to(directory) or ".." in listed.parts or listed == directory:
        return None
    return listed.relative_to(directory)


async def _get(door: Door, source: PurePosixPath, target: Path, mode: int) -> None:
    """Written beside the target and renamed over it: there is never half a file. No link is followed out of the target."""
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}")
    try:
        with beside.open("xb") as file:
            async with door.stream("GET", "/v1/files", path=str(source)) as answer:
                async for data in answer.aiter_raw():
                    await asyncio.to_thread(file.write, data)
            if file.tell() != int(answer.headers[HEADER_FILE_SIZE]):
                raise OSError(0, "it changed while it was read", str(source))
        beside.chmod(mode & _PERMISSIONS | stat.S_IRUSR | stat.S_IWUSR)
        beside.replace(target)
    finally:
        with suppress(FileNotFoundError):
            beside.unlink()


async def _list(door: Door, path: PurePosixPath) -> FileList:
    return FileList.model_validate_json((await door.call("GET", "/v1/files/list", path=str(path))).content)


async def _stat(door: Door, path: PurePosixPath) -> FileStat | None:
    try:
        return FileStat.model_validate_json(
            (await door.call("GET", "/v1/files/stat", path=str(path))).content
        )
    except Refused as error:
        if error.reason is Reason.NOT_FOUND:
            return None
        raise
