"""The chart's CronJob as a Pod, on a real Postgres: it draws what one thread said in the cluster, and another is told."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from skerry_testing.postgres import PASSWORD, postgres_server
from skerry_testing.stack import FLUSH, Stack
from skerry_testing.world import World, say

PROFILE, SECRET = FLUSH["profile"], FLUSH["dsnSecretRef"]
JOB = "flushed-now"
FACT = {"content": "Likes tea.", "category": "preference", "confidence": 0.9}


@pytest.fixture
def dsn(stack: Stack) -> Iterator[str]:
    """Of a database that Pods reach."""
    with postgres_server(stack.host_address) as server:
        yield server.database()


async def test_the_cron_job_draws_what_a_run_has_left(world: World, dsn: str) -> None:
    await world.secret(SECRET["name"], **{SECRET["key"]: dsn})
    script = json.dumps({"steps": [{"purpose": "memory", "say": json.dumps({"add": [FACT]})}]})
    await world.create(
        "AgentProfile",
        PROFILE,
        {
            "model": {"name": "scripted", "script": script},
            "persistence": {"type": "Postgres", "postgres": {"dsnSecretRef": SECRET}},
            "pipeline": {"memory": {"enabled": True, "flush": "Debounced", "debounceSeconds": 1}},
            "runner": {"network": {"allow": [f"{world.stack.host_address}/32"]}},
        },
    )
    first = await world.run(say("Noted."), profileRef={"name": PROFILE}, threadId="first")
    left = await world.phase(first, "Succeeded")
    kinds = [event["type"] for event in world.journal(left["podName"])]
    assert (kinds.count("memory.enqueued"), kinds.count("memory.updated")) == (1, 0)

    made = world.kubectl("create", "job", JOB, f"--from=cronjob/skerry-memory-{PROFILE}")
    world.made.append(("Job", JOB))
    assert made.returncode == 0, made.stderr
    job = await world.api.wait_for("Job", JOB, lambda seen: bool(ended(seen)), within=120)
    (pod,) = await world.api.list("Pod", labels=f"batch.kubernetes.io/job-name={JOB}")
    world.made.append(("Pod", pod["metadata"]["name"]))
    logs = world.kubectl("logs", pod["metadata"]["name"]).stdout
    assert "Complete" in ended(job), logs
    assert "default/lead, thread first: 1 added, 0 removed" in logs
    assert PASSWORD not in logs

    second = await world.run(
        say("Tea it is.", r"<memory>\n- Likes tea\."), profileRef={"name": PROFILE}, threadId="second"
    )
    assert (await world.phase(second, "Succeeded"))["runner"]["answer"] == "Tea it is."


def ended(job: dict[str, object]) -> list[str]:
    """Complete or Failed, once a Job is over."""
    status = job.get("status")
    conditions = status.get("conditions", []) if isinstance(status, dict) else []
    return [each["type"] for each in conditions if each["type"] in {"Complete", "Failed"}]
