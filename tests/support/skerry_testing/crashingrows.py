"""Real rows that crash, or are cancelled, before or after one of their hooks does its work."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from skerry_runner.compose.rows import NODE_HOOKS, Hook, hooks_of
from skerry_runner.rowspec import AnyRow

__all__ = ["Crash", "End", "Point", "Trigger", "crashing", "points_of"]


class Crash(Exception):
    """Nobody's fault but the test's."""


class End(StrEnum):
    """What happens at the point."""

    RAISE = "raise"
    CANCEL = "cancel"


@dataclass(frozen=True)
class Point:
    """A place in a row's hook: `after` its work (a wrap's: after its handler's) or before."""

    row: str
    hook: Hook
    after: bool


@dataclass
class Trigger:
    """Armed with a point and an end, it goes off there once, at the `nth` time (from 1) that the point is passed."""

    point: Point | None = None
    end: End = End.RAISE
    nth: int = 1
    task: asyncio.Task[Any] | None = None
    """Who is cancelled."""
    passed: list[Point] = field(default_factory=list)

    async def at(self, point: Point) -> None:
        self.passed.append(point)
        if point != self.point or self.passed.count(point) != self.nth:
            return
        if self.end is End.RAISE:
            raise Crash(f"at {point}")
        assert self.task is not None
        self.task.cancel()
        # The cancellation reaches us here, as it would in the middle of a wait.
        await asyncio.sleep(3600)


def points_of(row: AnyRow) -> list[Point]:
    """Every point of a row whose hooks are asynchronous."""
    return [
        Point(row.name, hook, after)
        for hook in hooks_of(row)
        if _asynchronous(row, hook)
        for after in (False, True)
    ]


def crashing(row: AnyRow, trigger: Trigger) -> AnyRow:
    """The row itself, now of a subclass whose hooks pass by the trigger."""
    name = row.name
    methods: dict[str, Any] = {"name": property(lambda _: name)}
    for hook in hooks_of(row):
        if _asynchronous(row, hook):
            wrap = _node if hook in NODE_HOOKS else _around
            methods[f"a{hook}"] = wrap(
                getattr(type(row), f"a{hook}"), Point(name, hook, after=False), trigger
            )
    row.__class__ = type(f"Crashing{name}", (type(row),), methods)
    return row


def _asynchronous(row: AnyRow, hook: Hook) -> bool:
    return any(
        f"a{hook}" in vars(each) for each in type(row).__mro__ if not each.__module__.startswith("langchain.")
    )


Method = Callable[..., Awaitable[Any]]


def _node(original: Method, before: Point, trigger: Trigger) -> Method:
    async def method(self: Any, state: Any, runtime: Any) -> Any:
        await trigger.at(before)
        update = await original(self, state, runtime)
        await trigger.at(Point(before.row, before.hook, after=True))
        return update

    # LangChain reads from the method where it may jump to.
    method.__dict__.update(original.__dict__)
    return method


def _around(original: Method, before: Point, trigger: Trigger) -> Method:
    async def method(self: Any, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        async def passing(inner: Any) -> Any:
            result = await handler(inner)
            await trigger.at(Point(before.row, before.hook, after=True))
            return result

        await trigger.at(before)
        return await original(self, request, passing)

    return method
