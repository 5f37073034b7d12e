"""The boundary of the tools in a cluster: a denied call, a blocked and a warned command."""

from __future__ import annotations

from typing import Any

from skerry_testing.world import World, bash, say


def _call(name: str, call_id: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": call_id}


async def test_what_is_denied_or_blocked_does_not_run_and_costs_no_sandbox(world: World) -> None:
    guardrail = {
        "deny": ["str_replace"],
        "rules": [{"tool": "write_file", "argument": "path", "glob": "/mnt/user-data/outputs/final/*", "reason": "people only"}],
    }  # fmt: skip
    await world.create("AgentProfile", "bounded", {"model": {"name": "scripted"}, "guardrail": guardrail})
    bounded = await world.run(
        {
            "toolCalls": [
                _call("write_file", "c1", path="/mnt/user-data/workspace/../outputs/final/x", content="x"),
                _call("bash", "c2", command="x=rm; $x -rf /"),
            ]
        },
        bash(
            "chmod 777 . && ls -A",
            "c3",
            expect={"contains": [r"call of 'write_file' was denied: people only", r"command was not run: .*\(delete-system\)"]},
        ),
        say("Bounded.", r"audit: mind this command: it lets everybody write"),
        profileRef={"name": "bounded"},
        threadId="bounded",
    )  # fmt: skip
    status = await world.phase(bounded, "Succeeded")
    assert status["runner"]["answer"] == "Bounded."
    journal = world.journal(status["podName"])
    kinds = [event["type"] for event in journal]
    # The sandbox came with the first command that was let through.
    assert kinds.count("sandbox.acquired") == 1
    first = next(
        event for event in journal if event["type"] == "audit.command" and event["verdict"] != "block"
    )
    assert kinds.index("sandbox.acquired") > journal.index(first)
    assert [(e["id"], e["provider"]) for e in journal if e["type"] == "guardrail"] == [("c1", "rules")]
    assert sorted((e["id"], e["verdict"]) for e in journal if e["type"] == "audit.command") == [
        ("c2", "block"),
        ("c3", "warn"),
    ]
