"""Faults of an API server, by the number of the call: refuse it, lose its answer, let it hang, kill the caller."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from typing_extensions import override

from skerry_operator.errors import Unknown

__all__ = ["Call", "Crash", "Fault", "Faults"]

T = TypeVar("T")
WRITES = frozenset({"create", "update", "apply", "status", "delete"})


class Fault(StrEnum):
    FAIL = "fail"
    """Not carried out, and nobody can tell: Unknown."""
    LOSE_REPLY = "lose reply"
    """Carried out; the caller gets Unknown."""
    HANG = "hang"
    """Not carried out; no answer until the caller gives up."""
    CRASH_BEFORE = "crash before"
    """The caller's process dies before the call is carried out."""
    CRASH_AFTER = "crash after"
    """It dies when the call has been carried out."""


class Crash(BaseException):
    """The process is dead: nothing may catch this but the test."""


@dataclass(frozen=True)
class Call:
    verb: str
    kind: str
    namespace: str
    name: str

    @property
    def writes(self) -> bool:
        return self.verb in WRITES

    @override
    def __str__(self) -> str:
        return f"{self.verb} {self.kind} {self.namespace}/{self.name}"


@dataclass
class Faults:
    """`at` maps the number of a call (counted from 0 in `calls`) to its fault; `every` applies to all others."""

    at: dict[int, Fault] = field(default_factory=dict)
    every: Callable[[Call], Fault | None] = lambda _call: None
    calls: list[Call] = field(default_factory=list)

    async def around(self, call: Call, work: Callable[[], T]) -> T:
        number = len(self.calls)
        self.calls.append(call)
        # A real call gives way to others before and after it takes effect.
        await asyncio.sleep(0)
        fault = self.at.get(number) or self.every(call)
        if fault is Fault.FAIL:
            raise Unknown("injected: not carried out", where=str(call))
        if fault is Fault.CRASH_BEFORE:
            raise Crash(f"before {call}")
        if fault is Fault.HANG:
            await _never()
        answer = work()
        await asyncio.sleep(0)
        if fault is Fault.LOSE_REPLY:
            raise Unknown("injected: the answer was lost", where=str(call))
        if fault is Fault.CRASH_AFTER:
            raise Crash(f"after {call}")
        return answer

    def writes(self) -> list[Call]:
        return [call for call in self.calls if call.writes]


def _never() -> Awaitable[None]:
    return asyncio.get_running_loop().create_future()
