"""A skill of a ConfigMap in real Pods: waited for, activated by the prompt, and read in the sandbox by every way there is."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from skerry_testing.world import World, bash, say

TEXT = "---\ndescription: Fill in forms & the like.\n---\nUse <b>qpdf</b>; the names stand in forms.md.\n"
LOGO = bytes(range(256)) * 8
READ = (
    "cat /mnt/skills/forms/forms.md; sha256sum < /mnt/skills/forms/logo.png; echo only $(ls /mnt/skills) here"
)


def call(name: str, call_id: str, *expect: str, **args: Any) -> dict[str, Any]:
    step = {"toolCalls": [{"name": name, "args": args, "id": call_id}]}
    return {**step, "expect": {"contains": list(expect)}}


async def test_a_skill_of_a_config_map_is_activated_and_read_in_the_sandbox(world: World) -> None:
    skills = [
        {"name": "forms", "configMapRef": {"name": "skill-forms"}},
        {"name": "off", "configMapRef": {"name": "skill-off"}, "enabled": False},
    ]
    await world.config_map("skill-off", {"SKILL.md": "Not for anybody.\n"})
    await world.create("AgentProfile", "skilled", {"model": {"name": "scripted"}, "skills": skills})
    activated = [
        r"<skill_activation>[\s\S]*Use &lt;b&gt;qpdf&lt;/b&gt;; the names[\s\S]*</skill_activation>\nhuman: /forms fill it in",
        r'<skill name="forms" path="/mnt/skills/forms/SKILL.md">Fill in forms &amp; the like.</skill>\n</skills>',
    ]
    name = await world.run(
        bash(READ, "c1", expect={"contains": activated}),
        call(
            "read_file",
            "c2",
            rf"bash .success.: field-one\n{hashlib.sha256(LOGO).hexdigest()}\s+-\nonly forms here",
            path="/mnt/skills/forms/SKILL.md",
        ),
        call(
            "write_file",
            "c3",
            r"read_file .success.: ---\ndescription: Fill in",
            path="/mnt/skills/forms/forms.md",
            content="x",
        ),
        say("Filled.", r"write_file .error.: "),
        profileRef={"name": "skilled"},
        prompt="/forms fill it in",
        threadId="skilled",
    )
    waiting = await world.wait(name, lambda status: bool(reason(status)))
    assert (waiting["status"]["phase"], reason(waiting["status"])) == ("Pending", "ConfigMapNotFound")
    (ready,) = [each for each in waiting["status"]["conditions"] if each["type"] == "Ready"]
    assert "spec.skills[0].configMapRef" in ready["message"]

    await world.config_map(
        "skill-forms",
        {"SKILL.md": TEXT, "forms.md": "field-one\n"},
        {"logo.png": base64.b64encode(LOGO).decode()},
    )
    status = await world.phase(name, "Succeeded")
    assert status["runner"]["answer"] == "Filled."
    results = [e for e in world.journal(status["podName"]) if e["type"] == "tool.result"]
    assert [(e["id"], e["status"]) for e in results] == [
        ("c1", "success"),
        ("c2", "success"),
        ("c3", "error"),
    ]


def reason(status: dict[str, Any]) -> str:
    """Why the run is not ready, once that is for want of something."""
    found = [each["reason"] for each in status.get("conditions", []) if each["type"] == "Ready"]
    return next((each for each in found if each.endswith("NotFound")), "")
