"""Every way in which a run may stop, by `skerry run` as a person starts it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import yaml

from skerry_api.phases import StopReason

Json = dict[str, Any]
API = {"apiVersion": "skerry.dev/v1alpha1"}
LOOK: Json = {"say": "On it.", "toolCalls": [{"name": "ls"}], "usage": {"input": 60, "output": 40}}
TASK: Json = {
    "toolCalls": [
        {"name": "task", "args": {"prompt": "Dig.", "subagent_type": "general-purpose", "description": "dig"}}
    ]
}
DONE: Json = {"say": "done", "usage": {"input": 60, "output": 40}}
FOUND: Json = {"agent": "general-purpose", "say": "found", "usage": {"input": 9, "output": 1}}
STOPS: dict[str, tuple[list[Json], Json, tuple[str, str | None, str | None]]] = {
    "EndTurn": ([LOOK, DONE, {"purpose": "title", "say": "A good end", "usage": {"input": 3, "output": 1}}], {},
                ("Succeeded", None, "done")),
    "TurnCapped": ([LOOK, LOOK], {"maxTurns": 1}, ("Succeeded", None, "On it.")),
    "TokenCapped": ([LOOK, LOOK, LOOK], {"maxTokens": 150}, ("Succeeded", None, "On it.")),
    "LoopCapped": ([LOOK] * 5, {}, ("Succeeded", None, "On it.\n\n[FORCED STOP]")),
    "SafetyCapped": ([{**LOOK, "provider": "gemini", "finishReason": "SAFETY"}], {}, ("Succeeded", None, "On it.\n\nThe model's provider")),
    "SubagentCapped": ([TASK, TASK, FOUND], {}, ("Succeeded", None, "[SUBAGENT LIMIT REACHED]")),
    "LengthCapped": ([{"say": "On and", "finishReason": "length"}], {}, ("Succeeded", None, "On and")),
    "cost": ([LOOK, LOOK], {"maxCostMicroUSD": 100}, ("Failed", "BudgetExceeded", None)),
    "silence": ([{"say": ""}, {"say": " "}], {}, ("Failed", "AppError", None)),
    "no model": ([{"error": {"status": 401}}], {}, ("Failed", "ModelError", None)),
    "an answer at last": ([{"say": ""}, DONE], {}, ("Succeeded", None, "done")),
}  # fmt: skip
"""By stop reason, or else by what it is: steps, limits, and phase, failure class and how the answer begins."""
PROFILE: Json = {
    **API, "kind": "AgentProfile", "metadata": {"name": "p"},
    "spec": {
        "model": {"name": "scripted", "price": {"inputMicroUSDPerMillion": 500_000, "outputMicroUSDPerMillion": 2_000_000}},
        "subagents": {"enabled": True}, "pipeline": {"subagentLimit": {"maxTotal": 1}},
    },
}  # fmt: skip


def written(folder: Path, steps: list[Json], limits: Json) -> None:
    """Manifests and script in a folder of their own."""
    folder.mkdir()
    spec = {"profileRef": {"name": "p"}, "prompt": "Do what the script says.", "limits": limits}
    run = {**API, "kind": "AgentRun", "metadata": {"name": "r"}, "spec": spec}
    (folder / "all.yaml").write_text(yaml.safe_dump_all([run, PROFILE]))
    (folder / "script.yaml").write_text(yaml.safe_dump({"steps": steps}))


async def stopped(folder: Path) -> tuple[int | None, Json]:
    """Exit code and status of the run in a folder."""
    command = [
        "-m",
        "skerry_cli",
        "run",
        "-f",
        "all.yaml",
        "--script",
        "script.yaml",
        "--data-dir",
        "data",
        "-o",
        "json",
    ]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={key: value for key, value in os.environ.items() if not key.startswith("SKERRY_")},
    )  # fmt: skip
    out, errors = await process.communicate()
    assert out, errors.decode()
    status: Json = json.loads(out)["status"]
    return process.returncode, status


async def test_all_of_them(tmp_path: Path) -> None:
    # Two at a time: each is a whole process.
    free = asyncio.Semaphore(2)

    async def one(name: str) -> tuple[int | None, Json]:
        async with free:
            return await stopped(tmp_path / name.replace(" ", "-"))

    for name, (steps, limits, _) in STOPS.items():
        written(tmp_path / name.replace(" ", "-"), steps, limits)
    ends = dict(zip(STOPS, await asyncio.gather(*map(one, STOPS)), strict=True))
    reached = set()
    for name, (code, status) in ends.items():
        phase, failure, answer = STOPS[name][2]
        report = status["runner"]
        assert (status["phase"], code) == (phase, 0 if phase == "Succeeded" else 1), (name, status)
        assert status.get("failure", {}).get("class") == failure, name
        assert (report.get("answer") or "").startswith(answer or ""), name
        assert (answer is None) is ("answer" not in report), name
        assert report["progress"]["title"], name
        reached.add(status.get("stopReason"))
    assert reached == {*StopReason, None}
    assert {name: ends[name][1].get("stopReason") for name in StopReason} == {
        name: name for name in StopReason
    }

    assert ends["EndTurn"][1]["runner"]["progress"]["title"] == "A good end"
    # 123 input tokens at half a micro-dollar, 81 output tokens at two: 223.5, rounded up.
    assert ends["EndTurn"][1]["runner"]["usage"] == {
        "input": 123, "output": 81, "total": 204, "subagents": 0, "internal": 4, "costMicroUSD": 224,
    }  # fmt: skip
    assert ends["SubagentCapped"][1]["runner"]["usage"]["subagents"] == 10
    assert ends["silence"][1]["runner"]["outcome"]["reason"] == "EmptyAnswer"
    assert ends["cost"][1]["runner"]["usage"]["costMicroUSD"] == 110
