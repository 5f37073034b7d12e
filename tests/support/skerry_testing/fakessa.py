"""Server-side apply as far as a status with two managers needs it: who owns which leaf, and what an apply removes."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

__all__ = ["Path", "apply", "leaves"]

Path = tuple[str, ...]


def leaves(tree: dict[str, Any], at: Path = ()) -> Iterator[Path]:
    """Paths of everything that is no (non-empty) mapping; lists are atomic."""
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, (*at, key))
        else:
            yield (*at, key)


def apply(
    current: dict[str, Any], wanted: dict[str, Any], owned: dict[str, set[Path]], manager: str
) -> dict[str, Any]:
    """The tree after a forced apply of the manager's whole set; `owned` (by manager) is updated."""
    result = deepcopy(current)
    now = set(leaves(wanted))
    others = set().union(*(paths for name, paths in owned.items() if name != manager))
    for path in owned.get(manager, set()) - now - others:
        _remove(result, path)
    for path in now:
        _set(result, path, deepcopy(_get(wanted, path)))
    for name, paths in owned.items():
        if name != manager:
            paths -= {path for path in now if _get(current, path) != _get(wanted, path)}
    owned[manager] = now
    return result


def _get(tree: Any, path: Path) -> Any:
    for key in path:
        if not isinstance(tree, dict) or key not in tree:
            return None
        tree = tree[key]
    return tree


def _set(tree: dict[str, Any], path: Path, value: Any) -> None:
    for key in path[:-1]:
        child = tree.get(key)
        if not isinstance(child, dict):
            child = tree[key] = {}
        tree = child
    tree[path[-1]] = value


def _remove(tree: dict[str, Any], path: Path) -> None:
    parents = [tree]
    for key in path[:-1]:
        child = parents[-1].get(key)
        if not isinstance(child, dict):
            return
        parents.append(child)
    parents[-1].pop(path[-1], None)
    for parent, child_key in zip(reversed(parents[:-1]), reversed(path[:-1]), strict=True):
        if parent[child_key] == {}:
            del parent[child_key]
