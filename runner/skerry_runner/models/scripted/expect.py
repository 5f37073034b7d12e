"""Whether a request is what a step expects. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from langchain_core.messages import BaseMessage

from skerry_runner.messages import role_of
from skerry_runner.models.scripted.patterns import SECONDS, search
from skerry_runner.models.scripted.render import render_request
from skerry_runner.models.scripted.schema import Expect

__all__ = ["mismatches"]

_ENDLESS = f"not found out within {SECONDS:g} s"


def mismatches(expect: Expect, messages: Sequence[BaseMessage], tools: Sequence[str]) -> list[str]:
    """What is not as expected, in words; empty if all is."""
    return list(_found(expect, messages, tools))


def _found(expect: Expect, messages: Sequence[BaseMessage], tools: Sequence[str]) -> Iterator[str]:
    if expect.contains or expect.absent:
        yield from _texts(expect, render_request(messages))
    for name in expect.tools.include:
        if name not in tools:
            yield f"tools.include {name}: not bound (bound: {', '.join(tools) or 'none'})"
    for name in expect.tools.exclude:
        if name in tools:
            yield f"tools.exclude {name}: bound"
    last = role_of(messages[-1]) if messages else "none"
    if expect.last_role not in {None, last}:
        yield f"lastRole {expect.last_role}: it is {last}"


def _texts(expect: Expect, text: str) -> Iterator[str]:
    for kind, patterns in (("contains", expect.contains), ("absent", expect.absent)):
        for pattern in patterns:
            if fault := _fault(kind, pattern, text):
                yield f"{kind} {pattern!r}: {fault}"


def _fault(kind: str, pattern: str, text: str) -> str | None:
    try:
        found = search(pattern, text)
    except TimeoutError:
        return _ENDLESS
    if kind == "contains":
        return "nothing matches" if found is None else None
    return None if found is None else f"matches {found[:80]!r}"
