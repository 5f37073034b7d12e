"""Subagents in a cluster: side by side, in the run's one sandbox."""

from __future__ import annotations

import json
from typing import Any

from skerry_testing.world import World, bash, say

MEET = (
    "touch {me}; for n in $(seq 600); do [ -e {other} ] && break; sleep 0.1; done; [ -e {other} ] && echo met"
)
"""Ends well only where both run at once and see the same files."""


def _task(prompt: str, call_id: str) -> dict[str, Any]:
    args = {"prompt": prompt, "subagent_type": "walker", "description": prompt}
    return {"name": "task", "args": args, "id": call_id}


async def test_two_meet_in_one_sandbox_and_leave_it_to_the_run(world: World) -> None:
    walker = {"name": "walker", "description": "Walks to a meeting.", "tools": ["bash"], "maxTurns": 3}
    profile = {"model": {"name": "scripted"}, "subagents": {"enabled": True, "types": [walker]}}
    await world.create("AgentProfile", "delegating", profile)
    own = {"agent": "walker", "expect": {"tools": {"include": ["bash"], "exclude": ["task", "write_file"]}}}
    name = await world.run(
        {"toolCalls": [_task("from the north", "t1"), _task("from the south", "t2")]},
        {"task": "north", **own, **bash(MEET.format(me="north", other="south"), "n1")},
        {"task": "south", **own, **bash(MEET.format(me="south", other="north"), "s1")},
        {"agent": "walker", **say("We have met.", r"bash \(success\): met")},
        bash(
            "ls; id -u",
            "c1",
            expect={"contains": [r"(?s)task \(success\): We have met.*task \(success\): We have"]},
        ),
        say("Both came.", "north\nsouth\n10001"),
        profileRef={"name": "delegating"},
        threadId="subagents",
    )
    status = await world.phase(name, "Succeeded")
    report = status["runner"]
    assert report["answer"] == "Both came."
    assert (
        report["progress"]["turn"],
        report["progress"]["modelCalls"],
        report["progress"]["toolCalls"],
    ) == (3, 7, 5)
    assert 0 < report["usage"]["subagents"] < report["usage"]["total"]
    assert status["sandbox"].get("replacements", 0) == 0

    log = world.kubectl("logs", status["podName"]).stdout
    journal = [json.loads(line) for line in log.splitlines() if line.startswith('{"seq"')]
    types = [event["type"] for event in journal]
    assert types.count("sandbox.acquired") == types.count("sandbox.released") == 1
    ends = [event for event in journal if event["type"] == "subagent.end"]
    assert [(end["agent"], end["status"], end["steps"]) for end in ends] == [("walker", "completed", 2)] * 2
    assert sum(end["usage"]["total"] for end in ends) == report["usage"]["subagents"]
