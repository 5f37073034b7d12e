"""What a watcher is told of an AgentRun: pure functions of one status and the one before."""

from __future__ import annotations

from typing import Any

from skerry_api.phases import TERMINAL, RunPhase
from skerry_api.report import Question
from skerry_cli.asking import question_text

__all__ = ["is_over", "pod_to_read", "told"]

Json = dict[str, Any]


def told(before: Json | None, run: Json) -> list[str]:
    """Lines for what has changed, in the order in which it happens."""
    old, new = (before or {}).get("status", {}), run.get("status", {})
    lines = []
    if new.get("phase") != old.get("phase") and "phase" in new:
        lines.append(f"{new['phase']}{_because(new)}")
    elif new.get("epoch") != old.get("epoch") and "epoch" in new:
        lines.append(f"{new['phase']}: epoch {new['epoch']}")
    question = _open_question(run)
    if question is not None and question != _open_question(before or {}):
        lines += [f"  {line}".rstrip() for line in question_text(question).splitlines()]
        options = " or --option N" if question.options else ""
        meta = run["metadata"]
        where = f"{meta['name']} -n {meta['namespace']}" if meta.get("namespace") else meta["name"]
        lines.append(f"  answer it with: skerry answer {where} --text TEXT{options}")
    if _asked(new) and not _asked(old):
        lines.append("the agent needs a sandbox: the runner asks for one")
    given, gave = new.get("sandbox") or {}, old.get("sandbox") or {}
    if given.get("state") != gave.get("state") and given:
        replaced = f", replaced {given['replacements']}×" if given.get("replacements") else ""
        lines.append(f"sandbox {given['name']}: {given['state']}{replaced}")
    return lines


def _open_question(run: Json) -> Question | None:
    status = run.get("status", {})
    asked = (status.get("runner") or {}).get("question")
    if status.get("phase") != RunPhase.AWAITING_INPUT or asked is None:
        return None
    return Question.model_validate(asked)


def _asked(status: Json) -> bool:
    return bool((status.get("runner") or {}).get("sandboxRequest"))


def _because(status: Json) -> str:
    if failure := status.get("failure"):
        return f": {failure['class']}: {failure.get('message', '')}"
    if queue := status.get("queue"):
        return f": {queue['reason']}, position {queue['position']}"
    for condition in status.get("conditions", ()):
        if condition["type"] == "Ready" and condition.get("message"):
            return f": {condition['message']}"
    return ""


def is_over(run: Json) -> bool:
    return run.get("status", {}).get("phase") in TERMINAL


def pod_to_read(run: Json) -> str | None:
    """Name of the runner Pod whose log can be read now."""
    status = run.get("status", {})
    started = status.get("phase") in {"Running", "AwaitingInput"} or bool(
        (status.get("runner") or {}).get("outcome")
    )
    return str(status["podName"]) if started and "podName" in status else None
