"""A terminal phase absorbs, whoever writes and however."""

from __future__ import annotations

from itertools import product

import pytest

from skerry_api.phases import TERMINAL, RunPhase
from skerry_testing.apierrors import ApiError
from skerry_testing.apiserver import ApiServer
from skerry_testing.manifests import a_run

FAULT = "status.phase"
OPERATOR = "skerry-operator"


async def ended(api: ApiServer, phase: RunPhase = RunPhase.SUCCEEDED) -> None:
    await api.create(a_run())
    await api.apply_status("AgentRun", "a", {"phase": phase}, OPERATOR)


@pytest.mark.parametrize("phase", sorted(TERMINAL))
async def test_no_other_phase_follows(api: ApiServer, phase: RunPhase) -> None:
    await ended(api, phase)
    for other in set(RunPhase) - {phase}:
        with pytest.raises(ApiError) as refused:
            await api.apply_status("AgentRun", "a", {"phase": other}, OPERATOR)
        assert refused.value.fields == {FAULT}
        assert "Forbidden: a terminal phase can't be left" in refused.value.message
    assert (await api.get("AgentRun", "a"))["status"]["phase"] == phase


async def test_it_cannot_be_removed(api: ApiServer) -> None:
    await ended(api)
    live = await api.get("AgentRun", "a")
    bare = {key: value for key, value in live.items() if key != "status"}
    tries = [
        api.apply_status("AgentRun", "a", {"epoch": 1}, OPERATOR),
        api.patch("AgentRun", "a", {"status": {"phase": None}}, subresource="status"),
        api.patch("AgentRun", "a", {"status": None}, subresource="status"),
        api.patch("AgentRun", "a", [{"op": "remove", "path": "/status"}], subresource="status", how="json"),
        api.patch(
            "AgentRun", "a", [{"op": "remove", "path": "/status/phase"}], subresource="status", how="json"
        ),
        api.replace(bare, subresource="status"),
        api.replace({**bare, "status": {}}, subresource="status"),
    ]
    for attempt in tries:
        with pytest.raises(ApiError) as refused:
            await attempt
        assert refused.value.fields == {FAULT}
    assert (await api.get("AgentRun", "a"))["status"]["phase"] == "Succeeded"


async def test_all_else_may_still_be_written(api: ApiServer) -> None:
    await ended(api)
    run = await api.patch("AgentRun", "a", {"spec": {"cancel": True, "ttlSecondsAfterFinished": 5}})
    assert run["spec"]["cancel"] is True
    run = await api.apply_status("AgentRun", "a", {"phase": "Succeeded", "epoch": 2}, OPERATOR)
    assert run["status"] == {"phase": "Succeeded", "epoch": 2}
    await api.delete("AgentRun", "a")
    await api.wait_gone("AgentRun", "a")


@pytest.mark.parametrize(("before", "after"), list(product(sorted(set(RunPhase) - TERMINAL), RunPhase)))
async def test_the_schema_leaves_all_other_steps_to_the_operator(
    api: ApiServer, before: RunPhase, after: RunPhase
) -> None:
    await api.create(a_run())
    await api.apply_status("AgentRun", "a", {"phase": before}, OPERATOR)
    run = await api.apply_status("AgentRun", "a", {"phase": after}, OPERATOR)
    assert run["status"]["phase"] == after


async def test_a_run_made_anew_under_the_name_starts_clean(api: ApiServer) -> None:
    await ended(api)
    await api.delete("AgentRun", "a")
    run = await api.create({**a_run(), "status": {"phase": "Failed"}})
    assert "status" not in run
