"""`skerry artifacts`: what a run presented as results, and copies of it from the thread's state volume."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import secrets
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from skerry_api.agentrun import AgentRun
from skerry_api.names import sandbox_id, state_volume_name
from skerry_api.report import RunArtifact
from skerry_api.resolve import thread_of
from skerry_cli.kubectl import Kubectl, KubectlError, find_kubectl
from skerry_cli.output import ListOutput
from skerry_cli.reader import MOUNT, reader_pod

__all__ = ["Fetch", "artifacts", "local_path"]

OUTPUTS = PurePosixPath("/mnt/user-data/outputs")
BAD_INPUT = 2
_READY_SECONDS = 120


@dataclass(frozen=True)
class Fetch:
    """Where copies go, and the image of the Pod that reads them (None: the run's own)."""

    to: Path
    image: str | None = None


def artifacts(
    name: str, namespace: str | None, context: str | None, output: ListOutput, fetch: Fetch | None
) -> int:
    """List, or fetch all that are kept; 0: done, 1: some could not be had, 2: no such run or no way to it."""
    try:
        kubectl = Kubectl(find_kubectl(os.environ), namespace, context)
        return asyncio.run(_artifacts(kubectl, name, output, fetch))
    except KubectlError as error:
        print(f"skerry: {error}", file=sys.stderr)
        return BAD_INPUT


async def _artifacts(kubectl: Kubectl, name: str, output: ListOutput, fetch: Fetch | None) -> int:
    run = AgentRun.model_validate(await kubectl.json("get", "agentrun", name))
    runner = run.status.runner
    listed = (runner.artifacts if runner else None) or ()
    if not listed:
        print(f"AgentRun {name} presented no files", file=sys.stderr)
    if fetch is None:
        _show(listed, output)
        return 0
    failures = await _fetch_all(kubectl, run, listed, fetch)
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


def _show(listed: tuple[RunArtifact, ...], output: ListOutput) -> None:
    if output is ListOutput.JSON:
        print(json.dumps([each.wire() for each in listed], indent=2, ensure_ascii=False))
        return
    for each in listed:
        kept = "kept" if each.available else "not kept"
        print(f"{each.path}\t{each.size}\t{each.media_type}\t{each.sha256 or '-'}\t{kept}")


def local_path(artifact: RunArtifact) -> PurePosixPath | None:
    """Where a copy goes below the target; None for a path that does not lie below the outputs: status is not trusted."""
    path = PurePosixPath(artifact.path)
    if not path.is_relative_to(OUTPUTS) or ".." in path.parts or path == OUTPUTS:
        return None
    return path.relative_to(OUTPUTS)


async def _fetch_all(
    kubectl: Kubectl, run: AgentRun, listed: tuple[RunArtifact, ...], fetch: Fetch
) -> list[str]:
    """What could not be had, a line each."""
    failures, wanted = [], []
    for each in listed:
        where = local_path(each)
        if where is None:
            failures.append(f"{each.path}: not below {OUTPUTS}")
        elif not each.available or each.sha256 is None:
            failures.append(f"{each.path}: no copy was kept")
        else:
            wanted.append((each, where))
    if not wanted:
        return failures
    async with _reading(kubectl, run, fetch.image) as read:
        for each, where in wanted:
            target = fetch.to / where
            try:
                await _fetch(read, run, each, target)
                print(target)
            except (KubectlError, OSError, _Damaged) as error:
                failures.append(f"{each.path}: {error}")
    return failures


class _Damaged(Exception):
    """What came is not what was kept."""


_Read = Callable[[str], AsyncIterator[bytes]]


async def _fetch(read: _Read, run: AgentRun, artifact: RunArtifact, target: Path) -> None:
    await asyncio.to_thread(target.parent.mkdir, parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.part")
    digest = hashlib.sha256()
    try:
        with await asyncio.to_thread(part.open, "wb") as file:
            async for chunk in read(f"{MOUNT}/artifacts/{run.metadata.uid}/{artifact.sha256}"):
                digest.update(chunk)
                await asyncio.to_thread(file.write, chunk)
        if digest.hexdigest() != artifact.sha256:
            raise _Damaged("the copy is not what was presented")
        await asyncio.to_thread(part.replace, target)
    finally:
        await asyncio.to_thread(part.unlink, missing_ok=True)


@asynccontextmanager
async def _reading(kubectl: Kubectl, run: AgentRun, image: str | None) -> AsyncIterator[_Read]:
    """Reads files of the thread's state volume, through a Pod that lives as long as this. Raises KubectlError."""
    namespace = run.metadata.namespace
    claim = state_volume_name(sandbox_id(namespace, run.spec.user_id, thread_of(run)))
    name = f"{run.metadata.name}-read-{secrets.token_hex(3)}"
    pod = reader_pod(name, namespace, claim, image or await _image(kubectl, run))
    await kubectl.json("create", "--filename=-", given=json.dumps(pod).encode())
    try:
        await kubectl.text("wait", "--for=condition=Ready", f"--timeout={_READY_SECONDS}s", f"pod/{name}")

        async def read(path: str) -> AsyncIterator[bytes]:
            async with aclosing(kubectl.chunks("exec", f"pod/{name}", "--", "cat", path)) as chunks:
                async for chunk in chunks:
                    yield chunk

        yield read
    finally:
        await kubectl.text("delete", "--wait=false", f"pod/{name}")


async def _image(kubectl: Kubectl, run: AgentRun) -> str:
    pod = run.status.pod_name
    try:
        found: dict[str, Any] = await kubectl.json("get", "pod", pod) if pod else {}
        return str(found["spec"]["containers"][0]["image"])
    except (KubectlError, LookupError) as error:
        raise KubectlError("the run's Pod is gone, and its image with it: name one with --image") from error
