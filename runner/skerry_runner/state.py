"""Every key of graph state with its one reducer. Ids, paths and handles are not state: see context.py.

What limits a run is kept here keyed by run, so that retry, resume and answer can't evade it.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict, TypeVar, cast

from langchain.agents import AgentState

__all__ = [
    "Artifact", "LoopCounts", "Promoted", "RunLimits", "RunStop", "RunnerState", "SandboxRef", "TodoItem", "UploadedFile", "ViewedImage",
    "keep_title", "merge_artifacts", "merge_cursors", "merge_images", "merge_limits", "merge_loops", "merge_promoted", "merge_sandbox", "merge_stop",
    "merge_uploads", "replace_todos",
]  # fmt: skip

T = TypeVar("T")
RUNS_KEPT = 8
"""Runs of a thread whose counters are kept: one is in flight, the others are history."""
IMAGES_KEPT = 64
"""Images of a thread that are remembered: each is shown once, right after it was looked at."""


class RunLimits(TypedDict, total=False):
    """Counters of one run, each only growing."""

    turns: int
    model_calls: int
    input: int
    output: int
    total: int
    internal: int
    """Tokens of internal calls, which `total` holds too."""
    subagents: int
    """Tokens of subagents, which `total` holds too."""
    cost: int
    """In pico-dollars."""
    empty_answers: int
    delegations: int
    """Pieces of work handed to subagents."""
    summary_turn: int
    """After a failed summary: the turn before which none is tried again."""
    todo_bounces: int
    """How often an end with open todos was put off."""


class LoopCounts(TypedDict, total=False):
    """What LoopDetection has seen of one run."""

    actions: list[str]
    """Digests of the newest actions, as many as the window holds."""
    tools: dict[str, int]
    """Calls of each tool in the run."""
    warned: list[str]
    """Of these actions the agent was told, until they leave the window."""
    warned_tools: list[str]


class RunStop(TypedDict):
    """Why a run was stopped by one of us; `reason` is a StopReason, or BudgetExceeded."""

    run: str
    reason: str


class SandboxRef(TypedDict):
    id: str
    pod: NotRequired[str]
    """UID of the Pod that stood behind the id and of which the agent knows; none where the files always stay."""


class Promoted(TypedDict):
    """Deferred tools that a search has brought to light; they hold for the catalogue with this hash alone."""

    catalogue: str
    names: list[str]


class TodoItem(TypedDict):
    """One entry of the agent's plan."""

    content: str
    status: Literal["pending", "in_progress", "completed"]


class UploadedFile(TypedDict):
    """What is known of a file that a person gave; `outline` are headings, a header or first lines."""

    name: str
    size: int
    type: str
    outline: list[str]


class ViewedImage(TypedDict):
    """An image that a call of view_image looked at; the bytes stay in the sandbox."""

    call: str
    path: str
    mime: str
    size: int
    sha256: str


class Artifact(TypedDict):
    """A file that the agent presented as a result, as it was then; `run` is the run's UID."""

    run: str
    path: str
    size: int
    type: str
    sha256: str | None
    """None: too large to be read."""
    kept: bool
    """Whether there is a copy outside the sandbox."""


def merge_limits(
    left: dict[str, RunLimits] | None, right: dict[str, RunLimits] | None
) -> dict[str, RunLimits]:
    """By run, the larger of each counter: writing the same totals twice, or late, changes nothing."""
    merged = dict(left or {})
    for run, counters in (right or {}).items():
        larger = cast("dict[str, int]", dict(merged.pop(run, {})))
        for key, count in cast("dict[str, int]", counters).items():
            larger[key] = max(larger.get(key, 0), count)
        merged[run] = cast("RunLimits", larger)
    return _newest(merged)


def merge_loops(
    left: dict[str, LoopCounts] | None, right: dict[str, LoopCounts] | None
) -> dict[str, LoopCounts]:
    """By run, the newest: what is written is all that was counted, so that writing it twice changes nothing."""
    merged = dict(left or {})
    for run, counts in (right or {}).items():
        merged.pop(run, None)
        merged[run] = counts
    return _newest(merged)


def keep_title(left: str | None, right: str | None) -> str | None:
    """A thread keeps its first title."""
    return left or right


def merge_sandbox(left: SandboxRef | None, right: SandboxRef | None) -> SandboxRef | None:
    """The thread's sandbox with the newest Pod. A replacement keeps the id, so another id is a fault.

    Raises:
        ValueError: two different ids.
    """
    if left is None or right is None:
        return right or left
    if left["id"] != right["id"]:
        raise ValueError(f"the thread's sandbox is {left['id']}, not {right['id']}")
    return {**left, **right}


def merge_promoted(left: Promoted | None, right: Promoted | None) -> Promoted | None:
    """Within a catalogue promotions add up, in order; another catalogue begins anew."""
    if left is None or right is None or left["catalogue"] != right["catalogue"]:
        return right or left
    names = list(dict.fromkeys((*left["names"], *right["names"])))
    return Promoted(catalogue=right["catalogue"], names=names)


def replace_todos(left: list[TodoItem] | None, right: list[TodoItem] | None) -> list[TodoItem] | None:
    """The plan is written as a whole: the newest stands, and an empty one too."""
    return left if right is None else right


def merge_stop(left: RunStop | None, right: RunStop | None) -> RunStop | None:
    """The first reason of a run stands; another run's replaces it."""
    if right is None or (left is not None and left["run"] == right["run"]):
        return left
    return right


def merge_uploads(left: list[UploadedFile] | None, right: list[UploadedFile] | None) -> list[UploadedFile]:
    """By name; a file given again is the newest."""
    merged = {file["name"]: file for file in left or ()}
    for file in right or ():
        merged.pop(file["name"], None)
        merged[file["name"]] = file
    return list(merged.values())


def merge_images(left: list[ViewedImage] | None, right: list[ViewedImage] | None) -> list[ViewedImage]:
    """By call, in the order of looking; only the newest are kept."""
    merged = {image["call"]: image for image in (*(left or ()), *(right or ()))}
    return list(merged.values())[-IMAGES_KEPT:]


def merge_artifacts(left: list[Artifact] | None, right: list[Artifact] | None) -> list[Artifact]:
    """By path, in the order of their first presentation, with the newest facts."""
    return list({artifact["path"]: artifact for artifact in (*(left or ()), *(right or ()))}.values())


def merge_cursors(left: dict[str, int] | None, right: dict[str, int] | None) -> dict[str, int]:
    """By (run, script), the furthest step."""
    merged = dict(left or {})
    for key, step in (right or {}).items():
        merged[key] = max(merged.pop(key, 0), step)
    return _newest(merged)


def _newest(kept: dict[str, T]) -> dict[str, T]:
    return kept if len(kept) <= RUNS_KEPT else dict(list(kept.items())[-RUNS_KEPT:])


class RunnerState(AgentState[None]):
    """State of the agent's graph."""

    limits: NotRequired[Annotated[dict[str, RunLimits], merge_limits]]
    loops: NotRequired[Annotated[dict[str, LoopCounts], merge_loops]]
    title: NotRequired[Annotated[str | None, keep_title]]
    stop: NotRequired[Annotated[RunStop | None, merge_stop]]
    sandbox: NotRequired[Annotated[SandboxRef | None, merge_sandbox]]
    promoted: NotRequired[Annotated[Promoted | None, merge_promoted]]
    todos: NotRequired[Annotated[list[TodoItem] | None, replace_todos]]
    uploads: NotRequired[Annotated[list[UploadedFile], merge_uploads]]
    viewed_images: NotRequired[Annotated[list[ViewedImage], merge_images]]
    artifacts: NotRequired[Annotated[list[Artifact], merge_artifacts]]
    script: NotRequired[Annotated[dict[str, int], merge_cursors]]
