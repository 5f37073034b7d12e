"""Which skill files that the agent has read stay word for word: prose would lose their paths and rules. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from skerry_api.rows.summarization import SummarizationSettings
from skerry_runner.paths import SKILLS
from skerry_runner.tokens import estimated
from skerry_runner.toolcalls import CALL_BLOCKS, RAW_KEYS

__all__ = ["SkillRead", "chosen_reads", "only_calls", "skill_path", "skill_reads"]

_PATH_ARGUMENTS = ("path", "file_path", "filepath", "file")


@dataclass(frozen=True)
class SkillRead:
    """A call that read a skill's file and worked: index of its message, of its result, and what it read."""

    asked: int
    answered: int
    call_id: str
    path: str
    tokens: int


def skill_path(args: Mapping[str, Any]) -> str | None:
    """The file below /mnt/skills that a call's arguments name."""
    for key in _PATH_ARGUMENTS:
        value = args.get(key)
        if isinstance(value, str) and value.startswith("/"):
            path = "/" + posixpath.normpath(value).lstrip("/")
            return path if path.startswith(SKILLS + "/") else None
    return None


def skill_reads(messages: Sequence[BaseMessage], tools: Sequence[str]) -> Iterator[SkillRead]:
    """All reads of skills that worked, oldest first."""
    asked: dict[str, tuple[int, str]] = {}
    for index, message in enumerate(messages):
        if isinstance(message, AIMessage):
            for call in message.tool_calls:
                if not call["id"]:
                    continue
                asked.pop(call["id"], None)
                if call["name"] in tools and (path := skill_path(call["args"])):
                    asked[call["id"]] = (index, path)
        elif isinstance(message, ToolMessage) and message.tool_call_id in asked:
            where, path = asked.pop(message.tool_call_id)
            if message.status != "error":
                yield SkillRead(where, index, message.tool_call_id, path, estimated([message]))


def chosen_reads(
    messages: Sequence[BaseMessage], cut: int, settings: SummarizationSettings
) -> tuple[SkillRead, ...]:
    """The reads before `cut` that stay: the newest of each file first, within the three budgets.

    One that is too long is left out, and the next may still fit.
    """
    chosen: list[SkillRead] = []
    seen: set[str] = set()
    left = settings.preserve_recent_skill_tokens
    for read in reversed(list(skill_reads(messages, settings.skill_read_tools))):
        if read.path in seen:
            continue
        seen.add(read.path)
        if read.asked >= cut:
            continue
        if len(chosen) >= settings.preserve_recent_skill_count:
            break
        if read.tokens <= min(left, settings.preserve_recent_skill_tokens_per_skill):
            left -= read.tokens
            chosen.append(read)
    return tuple(reversed(chosen))


def only_calls(message: AIMessage, ids: frozenset[str], *, keep: bool) -> AIMessage:
    """A copy under the same id with only these calls (`keep`), or with all but these, wherever they stand."""

    def stays(call_id: Any) -> bool:
        return (call_id in ids) is keep

    kwargs = dict(message.additional_kwargs)
    raw = kwargs.get("tool_calls")
    for key in RAW_KEYS:
        kwargs.pop(key, None)
    if isinstance(raw, list) and (
        left := [call for call in raw if isinstance(call, Mapping) and stays(call.get("id"))]
    ):
        kwargs["tool_calls"] = left
    content = message.content
    if not isinstance(content, str):
        content = [
            block
            for block in content
            if not isinstance(block, dict)
            or block.get("type") not in CALL_BLOCKS
            or stays(block.get("call_id") or block.get("id"))
        ]
    return message.model_copy(
        update={
            "content": content,
            "tool_calls": [call for call in message.tool_calls if stays(call["id"])],
            "invalid_tool_calls": [] if keep else list(message.invalid_tool_calls),
            "additional_kwargs": kwargs,
        }
    )
