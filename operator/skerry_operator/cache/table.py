"""One kind's objects by namespace and name. The newer resourceVersion wins; a deletion is remembered for a while."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar

__all__ = ["Entry", "Table", "Tombstone"]

T = TypeVar("T")
Name = tuple[str, str]
_TOMBSTONE_LIFE = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    uid: str
    version: int
    value: T


@dataclass(frozen=True, slots=True)
class Tombstone:
    """The object of this name was gone at `version`; older news of it are not believed."""

    version: int
    at: datetime


class Table(Generic[T]):
    """`index` gives, for a value, the keys under which `indexed` finds it within its namespace."""

    def __init__(self, index: Callable[[T], Iterable[str]]) -> None:
        self._index = index
        self._entries: dict[str, dict[str, Entry[T]]] = defaultdict(dict)
        self._indexed: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._tombstones: dict[Name, Tombstone] = {}

    def __len__(self) -> int:
        return sum(len(names) for names in self._entries.values())

    def get(self, namespace: str, name: str) -> Entry[T] | None:
        return self._entries[namespace].get(name) if namespace in self._entries else None

    def names(self) -> Iterator[tuple[str, str, Entry[T]]]:
        """Every entry, as of now."""
        for namespace, entries in list(self._entries.items()):
            for name, entry in list(entries.items()):
                yield namespace, name, entry

    def namespace(self, namespace: str) -> tuple[T, ...]:
        return tuple(entry.value for entry in self._entries.get(namespace, {}).values())

    def namespaces(self) -> tuple[str, ...]:
        return tuple(namespace for namespace, entries in self._entries.items() if entries)

    def indexed(self, namespace: str, key: str) -> tuple[T, ...]:
        entries = self._entries.get(namespace, {})
        return tuple(entries[name].value for name in sorted(self._indexed.get((namespace, key), ())))

    def put(self, namespace: str, name: str, entry: Entry[T]) -> bool:
        """Take the entry if it is news; False for what was known, or is older than what was known."""
        grave = self._tombstones.get((namespace, name))
        if grave is not None and entry.version <= grave.version:
            return False
        known = self.get(namespace, name)
        if known is not None:
            if entry.version <= known.version:
                return False
            self._unindex(namespace, name, known.value)
        self._tombstones.pop((namespace, name), None)
        self._entries[namespace][name] = entry
        for key in self._index(entry.value):
            self._indexed[namespace, key].add(name)
        return True

    def drop(self, namespace: str, name: str, version: int, now: datetime) -> Entry[T] | None:
        """The object was gone at `version`; gives what was known of it, None if that is newer or nothing."""
        known = self.get(namespace, name)
        if known is not None and known.version > version:
            return None
        self._bury(namespace, name, version, now)
        if known is None:
            return None
        self._unindex(namespace, name, known.value)
        del self._entries[namespace][name]
        if not self._entries[namespace]:
            del self._entries[namespace]
        return known

    def tombstone(self, namespace: str, name: str) -> Tombstone | None:
        return self._tombstones.get((namespace, name))

    def _bury(self, namespace: str, name: str, version: int, now: datetime) -> None:
        # Dicts keep insertion order, so the oldest stand first.
        for old, grave in list(self._tombstones.items()):
            if now - grave.at < _TOMBSTONE_LIFE:
                break
            del self._tombstones[old]
        before = self._tombstones.pop((namespace, name), None)
        if before is not None:
            version, now = max(version, before.version), before.at
        self._tombstones[namespace, name] = Tombstone(version, now)

    def _unindex(self, namespace: str, name: str, value: T) -> None:
        for key in self._index(value):
            names = self._indexed[namespace, key]
            names.discard(name)
            if not names:
                del self._indexed[namespace, key]
