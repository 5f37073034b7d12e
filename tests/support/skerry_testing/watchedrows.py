"""Real rows that tell when one of their hooks is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skerry_runner.compose.rows import NODE_HOOKS, Hook, hooks_of
from skerry_runner.rowspec import AnyRow

__all__ = ["watched"]

Tell = Callable[[Hook, str], None]


def watched(row: AnyRow, tell: Tell) -> AnyRow:
    """The row itself, now of a subclass whose hooks first `tell` (hook, name); hooks it lacks it goes on lacking."""
    name = row.name
    methods: dict[str, Any] = {"name": property(lambda _: name)}
    for hook in hooks_of(row):
        for method in (f"a{hook}", str(hook)):
            if method in _defined(row) and not (hook not in NODE_HOOKS and method == hook):
                methods[method] = _telling(getattr(type(row), method), hook, name, tell)
    row.__class__ = type(f"Watched{name}", (type(row),), methods)
    return row


def _defined(row: AnyRow) -> set[str]:
    """Names of methods that a class of the row's own defines."""
    return {
        name
        for each in type(row).__mro__
        if not each.__module__.startswith("langchain.")
        for name in vars(each)
    }


def _telling(original: Callable[..., Any], hook: Hook, name: str, tell: Tell) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        tell(hook, name)
        return original(self, *args, **kwargs)

    # LangChain reads from the method where it may jump to.
    method.__dict__.update(original.__dict__)
    return method
