"""What becomes of an object on its way into the API server and back: pruning, defaults, round trips, size."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from skerry_api.agentrun import AgentRun
from skerry_api.defaults import apply_defaults
from skerry_api.kinds import KINDS
from skerry_testing.apiserver import ApiServer, Json
from skerry_testing.full import FULL
from skerry_testing.manifests import CASES, Case, a_class, a_profile, a_run

EXCLUSIVE: dict[str, tuple[tuple[str | int, ...], ...]] = {
    "AgentRun": (("spec", "promptFrom"), ("spec", "files", 0, "configMapKeyRef")),
    "AgentProfile": (
        ("spec", "model", "scriptRef"),
        ("spec", "persistence", "postgres"),
        ("spec", "mcpServers", 0, "url"),
        ("spec", "guardrail", "rules", 0, "regex"),
        ("spec", "guardrail", "rules", 0, "glob"),
        ("spec", "mcpServers", 0, "headersSecretRef"),
        *(
            ("spec", "pipeline", "summarization", *place, unit)
            for place in (("trigger", 0), ("keep",))
            for unit in ("tokens", "fraction")
        ),
    ),
}
"""By kind, one of each pair of fields that exclude each other."""


def sendable(kind: str) -> Json:
    """The full object of a kind, without the fields that exclude others."""
    body = copy.deepcopy(FULL[kind])
    for *path, last in EXCLUSIVE.get(kind, ()):
        place: Any = body
        for step in path:
            place = place[step]
        del place[last]
    return body


@pytest.mark.parametrize("kind", KINDS)
async def test_a_full_object_comes_back_as_it_went(api: ApiServer, kind: str) -> None:
    sent = sendable(kind)
    await api.create({key: value for key, value in sent.items() if key != "status"})
    if "status" in sent:
        await api.apply_status(kind, "full", sent["status"], "test")
    back = KINDS[kind].read(await api.get(kind, "full")).wire()
    assert back["spec"] == sent["spec"]
    assert back.get("status") == sent.get("status")


@pytest.mark.parametrize("kind", KINDS)
async def test_the_models_wire_form_is_accepted_strictly(api: ApiServer, kind: str) -> None:
    wire = KINDS[kind].read(sendable(kind)).wire()
    wire["metadata"] = {"name": "full"}
    stored = await api.create(wire)
    assert KINDS[kind].read(stored).wire()["spec"] == wire["spec"]


@pytest.mark.parametrize("case", [case for case in CASES if not case.faults], ids=lambda case: case.id)
async def test_defaults_are_those_of_the_offline_checks(api: ApiServer, case: Case) -> None:
    stored = await api.create(case.manifest, dry_run=True)
    assert stored["spec"] == apply_defaults(case.manifest)["spec"]


async def test_unknown_fields_are_pruned_when_not_refused(api: ApiServer) -> None:
    run = a_run(promt="x", limits={"maxTurns": 5, "maxTokns": 5})
    stored = await api.create({**run, "extra": 1}, validation="Ignore")
    assert "extra" not in stored
    assert "promt" not in stored["spec"]
    assert stored["spec"]["limits"] == {
        "maxTurns": 5, "startupDeadlineSeconds": 600, "activeDeadlineSeconds": 3600,
    }  # fmt: skip


async def test_fields_of_a_newer_server_do_not_disturb_the_models(api: ApiServer) -> None:
    stored = await api.create(a_run())
    newer: dict[str, Any] = {**stored, "spec": {**stored["spec"], "later": {"a": 1}}}
    assert AgentRun.read(newer).spec == AgentRun.read(stored).spec


async def test_the_largest_objects_stay_within_the_cost_of_their_rules(api: ApiServer) -> None:
    """Rules that cost too much fail at run time, not only in the estimate; so all bounds are used up at once."""
    parameters = {f"{number:02}{'k' * 62}": "v" * 1024 for number in range(32)}
    run = a_run(
        name="a" * 52,
        prompt="ä" * 65_536,
        model={"name": "m" * 253, "parameters": parameters, "script": "ä" * 131_072},
        threadId="t" * 128,
    )
    stored = await api.create(run)
    assert stored["spec"]["prompt"] == run["spec"]["prompt"]
    changed = await api.patch("AgentRun", "a" * 52, {"spec": {"cancel": True}})
    assert changed["spec"]["model"] == run["spec"]["model"]
    answer = {"epoch": 1, "podUID": "u", "answer": "ä" * 8192}
    answered = await api.apply_status("AgentRun", "a" * 52, {"runner": answer}, "skerry-runner")
    assert answered["status"]["runner"] == answer


async def test_the_largest_classes_and_profiles_do_too(api: ApiServer) -> None:
    quantities = {f"example.com/{number:02}{'r' * 200}": "1" * 30 + "Gi" for number in range(16)}
    cidrs = [f"2001:db8:{number:x}::ffff:ffff:ffff:ffff/128" for number in range(32)]
    toleration = {"key": "k" * 316, "operator": "Equal", "value": "v" * 63, "effect": "NoExecute"}
    await api.create(
        a_class(
            network={"allow": cidrs},
            template={
                "env": [{"name": f"N{number}", "value": "v" * 4096} for number in range(64)],
                "resources": {"requests": quantities, "limits": quantities},
                "tolerations": [{**toleration, "tolerationSeconds": number} for number in range(16)],
                "nodeSelector": {f"{number:03}{'k' * 313}": "v" * 63 for number in range(16)},
            },
        )
    )
    await api.create(
        a_profile(
            model={"script": "ä" * 131_072},
            systemPrompt="ä" * 65_536,
            allowedModels=[f"{number:02}{'m' * 251}" for number in range(64)],
            allowedClasses=[f"{number:02}{'c' * 251}" for number in range(64)],
            runner={"network": {"allow": cidrs}, "resources": {"requests": quantities, "limits": quantities}},
        )
    )
