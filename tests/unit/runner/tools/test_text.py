"""Bytes into text, long into short; paths; keys."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from skerry_api.agentprofile import ToolName
from skerry_runner.paths import OutsideThreadData, virtual_path
from skerry_runner.tools.call import place_of
from skerry_runner.tools.catalogue import TOOLS, tools_for
from skerry_runner.tools.text import cut_head, cut_middle, decode, is_binary


def test_nothing_is_lost_in_decoding() -> None:
    assert decode(b"caf\xc3\xa9 \xff\x00\n") == "café \\xff\\x00\n"
    assert is_binary(b"a\0b")
    assert not is_binary(b"a" * 8192 + b"\0")


@pytest.mark.parametrize("limit", [0, 1, 10, 50, 99, 100, 101])
def test_a_cut_text_is_never_longer_than_its_limit(limit: int) -> None:
    text = "x" * 100
    for cut in (cut_middle(text, limit), cut_head(text, limit, "hint")):
        assert cut == text if limit == 0 or limit >= 100 else len(cut) <= limit


@pytest.mark.parametrize(
    ("path", "full"),
    [
        ("/mnt/user-data/outputs/a", "/mnt/user-data/outputs/a"),
        ("a/../b", "/mnt/user-data/workspace/b"),
        ("../outputs", "/mnt/user-data/outputs"),
        ("//mnt/user-data/x", "/mnt/user-data/x"),
        ("/mnt/user-data", "/mnt/user-data"),
        (".", "/mnt/user-data/workspace"),
    ],
)
def test_paths_are_made_whole(path: str, full: str) -> None:
    assert virtual_path(path) == full


def test_skills_are_read_and_not_written() -> None:
    assert virtual_path("/mnt/user-data/../skills/pdf/SKILL.md") == "/mnt/skills/pdf/SKILL.md"
    assert virtual_path("/mnt/user-data/a", write=True) == "/mnt/user-data/a"
    with pytest.raises(OutsideThreadData, match="/mnt/skills is read-only"):
        virtual_path("/mnt/skills/pdf/SKILL.md", write=True)
    with pytest.raises(OutsideThreadData, match="outside"):
        virtual_path("/mnt/skills2/a")


@pytest.mark.parametrize(
    "path", ["", "/", "/mnt", "/mnt/user-data/..", "/mnt/user-data2", "../..", "a\0", "~/x/../../../.."]
)
def test_paths_that_lead_outside(path: str) -> None:
    with pytest.raises(OutsideThreadData):
        virtual_path(path)


def test_a_call_s_place_is_in_the_newest_message_that_makes_it() -> None:
    calls = [{"name": "a", "args": {}, "id": "1"}, {"name": "a", "args": {}, "id": "2"}]
    old, new = AIMessage("", id="old", tool_calls=calls), AIMessage("", id="new", tool_calls=calls[1:])
    assert place_of([old, HumanMessage("x")], "2") == ("old", 1)
    assert place_of([old, new], "2") == ("new", 0)
    assert place_of([new], "9") == ("9", 0)


def test_every_name_of_the_api_is_a_tool() -> None:
    assert set(TOOLS) == set(ToolName)
    assert [tool.name for tool in TOOLS.values()] == [name.value for name in TOOLS]
    assert [tool.name for tool in tools_for([ToolName.LS, ToolName.BASH, ToolName.LS])] == ["bash", "ls"]
    for tool in TOOLS.values():
        assert "runtime" not in tool.tool_call_schema.model_json_schema()["properties"]  # type: ignore[union-attr]  # ours are models
