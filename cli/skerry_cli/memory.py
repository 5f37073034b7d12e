"""`skerry memory`: see what is remembered of a user, forget it, bring it up to date."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from skerry_api.agentprofile import AgentProfile
from skerry_api.document import API_KEY_ENV, DSN_ENV, RunDocument
from skerry_api.problems import Problem
from skerry_api.resolve import SCRIPTED, sketch
from skerry_cli.inputs import read_documents
from skerry_cli.profiles import one_profile
from skerry_runner.local.threads import default_data_dir
from skerry_runner.local.yamldoc import FileProblem

if TYPE_CHECKING:
    from skerry_runner.memory.book import MemoryBook, Owner, Waiting
    from skerry_runner.memory.facts import Fact
    from skerry_runner.memory.runmemory import OpenStore
    from skerry_runner.memory.update import Updated

__all__ = ["Place", "flush", "forget", "get"]

BAD_INPUT = 2
T = TypeVar("T")


@dataclass(frozen=True)
class Place:
    """Which memories: a data directory's if one is given, else a database's if the environment names one."""

    namespace: str
    data_dir: Path | None = None

    def store(self) -> OpenStore:
        from skerry_api.persistence import PersistenceType
        from skerry_runner.memory.stores import store_at
        from skerry_runner.persistence.opening import StatePlace

        dsn = os.environ.get(DSN_ENV)
        if dsn and self.data_dir is None:
            return store_at(StatePlace(PersistenceType.POSTGRES, dsn=dsn))
        directory = self.data_dir or default_data_dir(os.environ, Path.home())
        if not directory.is_dir():
            raise FileNotFoundError(f"there is no data directory {directory}")
        return store_at(StatePlace(PersistenceType.VOLUME, directory))


def get(place: Place, user: str, agent: str, *, as_json: bool) -> int:
    """Print facts and what waits; the exit code."""

    async def read(book: MemoryBook, owner: Owner) -> tuple[list[Fact], list[Waiting]]:
        return await book.facts(owner), await book.waiting(owner)

    found = _with_book(place, lambda book: read(book, _owner(user, agent)))
    if found is None:
        return 1
    from skerry_runner.memory.facts import ranked

    facts, waiting = ranked(found[0]), found[1]
    if as_json:
        told = {
            "user": user,
            "agent": agent,
            "facts": [fact.model_dump(mode="json") for fact in facts],
            "waiting": [_waiting(each) for each in waiting],
        }
        print(json.dumps(told, indent=2, ensure_ascii=False))
        return 0
    for fact in facts:
        print(f"{fact.id}  {fact.confidence:.2f}  {fact.category.value:<10}  {fact.content}")
    if waiting:
        print(f"{len(waiting)} waiting to become facts", file=sys.stderr)
    if not facts:
        print(f"nothing is remembered of {user}", file=sys.stderr)
    return 0


def _waiting(each: Waiting) -> dict[str, Any]:
    snapshot = each.pending.snapshot
    return {
        "thread": snapshot.thread,
        "run": snapshot.run,
        "profile": each.pending.profile,
        "due": each.pending.due.isoformat(),
        "exchanges": len(snapshot.fresh),
    }


def forget(place: Place, user: str, agent: str, ids: Sequence[str]) -> int:
    """Delete some facts, or all and what waits as well; the exit code."""
    from skerry_runner.memory.facts import Change

    async def some(book: MemoryBook, owner: Owner) -> tuple[int, int]:
        known = {fact.id for fact in await book.facts(owner)}
        if unknown := sorted(set(ids) - known):
            raise KeyError(", ".join(unknown))
        await book.apply(owner, Change(delete=tuple(ids)))
        return len(set(ids)), 0

    async def every(book: MemoryBook, owner: Owner) -> tuple[int, int]:
        return await book.forget(owner)

    work = some if ids else every
    try:
        done = _with_book(place, lambda book: work(book, _owner(user, agent)))
    except KeyError as error:
        print(f"skerry: no such fact of {user}: {error.args[0]}", file=sys.stderr)
        return BAD_INPUT
    if done is None:
        return 1
    print(f"forgotten: {done[0]} facts" + ("" if ids else f", {done[1]} waiting"))
    return 0


def flush(place: Place, files: tuple[str, ...], *, due: bool, as_json: bool) -> int:
    """Have what waits become facts; the exit code, 1 if any could not."""
    documents, problems = read_documents(files)
    profile = problems or one_profile(files[0], documents)
    if not isinstance(profile, AgentProfile):
        for problem in profile:
            print(problem.text(), file=sys.stderr)
        return BAD_INPUT
    key = os.environ.get(API_KEY_ENV) or None
    document = _document(profile, place.namespace)
    if profile.spec.model.api_key_secret_ref is not None and key is None and document.model.name != SCRIPTED:
        words = f"the model's key is expected in the environment variable {API_KEY_ENV}"
        where = Problem("spec.model.apiKeySecretRef", words)
        print(
            FileProblem(files[0], None, f"AgentProfile {profile.metadata.name}", where).text(),
            file=sys.stderr,
        )
        return BAD_INPUT
    try:
        done = asyncio.run(_flush(place.store(), document, key, due))
    except Exception as error:  # noqa: BLE001 - the store's and the model's errors are for people here
        return _failed(error)
    if as_json:
        print(json.dumps([_updated(each) for each in done], indent=2, ensure_ascii=False))
    else:
        for each in done:
            print(_line(each))
        if not done:
            print("nothing waits" if not due else "nothing is due")
    return 1 if any(each.error for each in done) else 0


async def _flush(store: OpenStore, document: RunDocument, key: str | None, due: bool) -> list[Updated]:
    from skerry_runner.memory.offline import flush_waiting

    return await flush_waiting(document, store, due=due, api_key=key, clock=lambda: datetime.now(UTC))


def _document(profile: AgentProfile, namespace: str) -> RunDocument:
    meta = profile.metadata.model_copy(update={"namespace": profile.metadata.namespace or namespace})
    return sketch(profile.model_copy(update={"metadata": meta}))


def _updated(each: Updated) -> dict[str, Any]:
    told = {**each.key._asdict(), "added": each.added, "removed": each.removed, "dropped": each.dropped}
    return told if each.error is None else {**told, "error": each.error}


def _line(each: Updated) -> str:
    who = f"{each.key.user}/{each.key.agent}, thread {each.key.thread}"
    if each.error is None:
        return f"{who}: {each.added} added, {each.removed} removed"
    return f"{who}: {each.error}" + (" (given up)" if each.dropped else " (waits)")


def _owner(user: str, agent: str) -> Owner:
    from skerry_runner.memory.book import Owner

    return Owner(user, agent)


def _with_book(place: Place, work: Any) -> Any:
    """What `work` gives for the place's book; None, and the reason on stderr, if it can't be reached."""
    from skerry_runner.memory.book import MemoryBook

    async def run(store: OpenStore) -> Any:
        async with store() as opened:
            return await work(MemoryBook(opened, place.namespace))

    try:
        return asyncio.run(run(place.store()))
    except KeyError:
        raise
    except Exception as error:  # noqa: BLE001 - likewise
        _failed(error)
        return None


def _failed(error: Exception) -> int:
    print(f"skerry: {str(error) or type(error).__name__}", file=sys.stderr)
    return 1
