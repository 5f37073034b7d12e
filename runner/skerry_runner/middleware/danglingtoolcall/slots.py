"""Which result belongs to which call. Pure; works on places in a list of messages alone.

Ids are not unique: some servers count them anew each turn, some send none, some send one twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from skerry_runner.toolcalls import CallSource, Declared

__all__ = ["NO_ID", "Slot", "assigned"]

NO_ID = frozenset({"", "missing_tool_call_id"})
"""What stands in a result whose call had no id."""


@dataclass(frozen=True)
class Slot:
    """A call: place of its message in the history, place among the message's calls."""

    message: int
    call: int


@dataclass
class _Group:
    """Calls of one id, and the results that came after them and before the id was used again."""

    slots: list[Slot] = field(default_factory=list)
    results: list[int] = field(default_factory=list)


def assigned(messages: Sequence[AnyMessage], calls: dict[int, list[Declared]]) -> dict[Slot, int]:
    """For calls that have a result: its place. `calls` are the calls of each AIMessage, by the message's place.

    Only valid calls are ever run, so only they get results. A result goes to the newest call of its id before it; one
    that stands before any call of its id goes to the next one, if no message of a person lies between.
    """
    groups: defaultdict[str, list[_Group]] = defaultdict(list)
    early: defaultdict[str, list[int]] = defaultdict(list)
    for place, message in enumerate(messages):
        if isinstance(message, HumanMessage):
            early.clear()
        elif isinstance(message, AIMessage):
            for index, call in enumerate(calls.get(place, ())):
                if call.source is CallSource.VALID:
                    _declare(groups[_key(call.id)], Slot(place, index), early.pop(_key(call.id), []))
        elif isinstance(message, ToolMessage):
            known = groups.get(_key(message.tool_call_id))
            if known:
                known[-1].results.append(place)
            else:
                early[_key(message.tool_call_id)].append(place)
    names = {
        Slot(place, index): call.name for place, listed in calls.items() for index, call in enumerate(listed)
    }
    found: dict[Slot, int] = {}
    for group in (group for listed in groups.values() for group in listed):
        found |= _matched(group, names, {place: messages[place].name for place in group.results})
    return found


def _key(id_: str | None) -> str:
    return "" if id_ is None or id_ in NO_ID else id_


def _declare(groups: list[_Group], slot: Slot, early: list[int]) -> None:
    newest = groups[-1] if groups else None
    same_message = newest is not None and newest.slots[-1].message == slot.message
    if newest is None or (newest.results and not same_message):
        newest = _Group()
        groups.append(newest)
    newest.slots.append(slot)
    newest.results.extend(early)


def _matched(group: _Group, names: dict[Slot, str | None], results: dict[int, str | None]) -> dict[Slot, int]:
    """The newest message's calls come first; results that are left over go to the calls before, the newest first."""
    newest = [slot for slot in group.slots if slot.message == group.slots[-1].message]
    before = group.slots[: len(group.slots) - len(newest)]
    usable = group.results[: len(group.slots)]
    spare = max(0, len(usable) - len(newest))
    older, own = usable[:spare], usable[spare:]
    found = dict(zip(before[len(before) - len(older) :], older, strict=True))
    if len(newest) == 1:
        return found | dict(zip(newest, own, strict=False))
    return found | _side_by_side(newest, own, names, results)


def _side_by_side(
    slots: list[Slot], results: list[int], names: dict[Slot, str | None], said: dict[int, str | None]
) -> dict[Slot, int]:
    """Calls of one message that share an id (or have none): paired only where there is no choice.

    By name, as often as a name has as many results as calls; else by order, if nothing is missing.
    """
    found: dict[Slot, int] = {}
    for name in {names[slot] for slot in slots}:
        mine = [slot for slot in slots if names[slot] == name]
        theirs = [place for place in results if said[place] == name]
        if len(mine) == len(theirs):
            found |= dict(zip(mine, theirs, strict=True))
    if len(found) < len(slots) == len(results) and not found:
        return dict(zip(slots, results, strict=True))
    return found
