"""Kinds of subagent, and what the tool says of them."""

from __future__ import annotations

from typing import Any

from skerry_api.toolname import ToolName
from skerry_runner.subagents.kinds import SubagentKind, kinds_for
from skerry_runner.subagents.port import execution_id
from skerry_runner.tools.task import describe
from skerry_testing.runnerworld import document

CRITIC: dict[str, Any] = {"name": "critic", "description": "Finds\nfaults."}


def kinds(*types: dict[str, Any], **given: Any) -> dict[str, SubagentKind]:
    made = document(subagents={"enabled": True, "types": list(types)}, **given)
    return {kind.name: kind for kind in kinds_for(made)}


def test_the_built_in_kinds() -> None:
    found = kinds(vision=True)
    assert list(found) == ["general-purpose", "bash"]
    general, bash = found.values()
    assert set(ToolName) - set(general.tools) == {"view_image", "present_files", "ask_clarification"}
    assert bash.tools == ("bash", "ls", "read_file", "write_file", "str_replace")
    assert (general.mcp_tools, bash.mcp_tools) == (True, False)
    assert (general.max_turns, bash.max_turns, bash.timeout_seconds) == (100, 60, 900)
    assert general.max_tokens == bash.max_tokens == 1_000_000
    assert all(kind.system_prompt for kind in found.values())


def test_where_the_lead_may_run_no_commands_nobody_may() -> None:
    found = kinds(CRITIC | {"tools": ["bash", "ls"]}, tools=[ToolName.LS, ToolName.PRESENT_FILES])
    assert {name: kind.tools for name, kind in found.items()} == {
        "general-purpose": ("ls",),
        "critic": ("ls",),
    }


def test_a_type_of_the_profile() -> None:
    given = {
        "systemPrompt": "Be strict.",
        "tools": ["grep", "ls"],
        "maxTurns": 2,
        "timeoutSeconds": 3,
        "mcpTools": False,
    }
    critic = kinds(CRITIC | given)["critic"]
    assert (critic.tools, critic.system_prompt) == (("ls", "grep"), "Be strict.")
    assert (critic.max_turns, critic.timeout_seconds, critic.mcp_tools) == (2, 3, False)
    plain = kinds(CRITIC)["critic"]
    general = kinds()["general-purpose"]
    assert (plain.tools, plain.system_prompt) == (general.tools, general.system_prompt)
    assert kinds(CRITIC | {"tools": []})["critic"].tools == ()


def test_one_of_the_profile_takes_the_place_of_a_built_in() -> None:
    found = kinds(CRITIC | {"name": "bash", "tools": ["ls"]})
    assert list(found) == ["general-purpose", "bash"]
    assert (found["bash"].tools, found["bash"].description) == (("ls",), "Finds\nfaults.")


def test_the_tool_lists_them() -> None:
    text = describe(list(kinds(CRITIC | {"tools": []}).values()), 3, 6)
    assert "\n- critic: Finds faults. (tools: none)" in text
    assert "\n- bash: " in text
    assert "at most 3 of them; in one run there are at most 6" in text


def test_an_execution_is_named_by_its_place() -> None:
    places = [("r", "m", 0), ("r", "m", 1), ("r", "n", 0), ("s", "m", 0), ("rm", "", 0), ("", "rm", 0)]
    ids = [execution_id(*place) for place in places]
    assert len(set(ids)) == len(places)
    assert ids == [execution_id(*place) for place in places]
