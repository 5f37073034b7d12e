"""Two managers of one run's status, each with fields of its own, as server-side apply keeps them apart."""

from __future__ import annotations

import pytest

from skerry_testing.apierrors import ApiError
from skerry_testing.apiserver import ApiServer, Json
from skerry_testing.full import OPERATOR_STATUS, RUNNER_STATUS
from skerry_testing.manifests import a_run

OPERATOR, RUNNER = "skerry-operator", "skerry-runner"


def fields_of(run: Json, manager: str) -> set[str]:
    """Top-level status fields that a manager owns."""
    entries = run["metadata"]["managedFields"]
    (entry,) = (
        each for each in entries if each["manager"] == manager and each.get("subresource") == "status"
    )
    return {key.removeprefix("f:") for key in entry["fieldsV1"]["f:status"] if key != "."}


async def both(api: ApiServer) -> Json:
    await api.create(a_run())
    await api.apply_status("AgentRun", "a", OPERATOR_STATUS, OPERATOR)
    return await api.apply_status("AgentRun", "a", RUNNER_STATUS, RUNNER)


async def test_each_keeps_its_own(api: ApiServer) -> None:
    run = await both(api)
    assert run["status"] == {**OPERATOR_STATUS, **RUNNER_STATUS}
    assert fields_of(run, OPERATOR) == OPERATOR_STATUS.keys()
    assert fields_of(run, RUNNER) == RUNNER_STATUS.keys()


async def test_what_a_manager_omits_is_removed_but_not_the_others(api: ApiServer) -> None:
    await both(api)
    run = await api.apply_status("AgentRun", "a", {"phase": "Running"}, OPERATOR)
    assert run["status"] == {"phase": "Running", **RUNNER_STATUS}
    bare = {"runner": {"epoch": 2, "podUID": "u"}}
    run = await api.apply_status("AgentRun", "a", bare, RUNNER)
    assert run["status"] == {"phase": "Running", **bare}


async def test_conditions_are_owned_one_by_one(api: ApiServer) -> None:
    await both(api)
    other = {**OPERATOR_STATUS["conditions"][0], "type": "Foreign"}
    run = await api.apply_status("AgentRun", "a", {"conditions": [other]}, "somebody")
    assert {each["type"] for each in run["status"]["conditions"]} == {"Ready", "Foreign"}


async def test_a_plan_on_an_old_version_is_refused(api: ApiServer) -> None:
    old = (await api.create(a_run()))["metadata"]["resourceVersion"]
    await api.apply_status("AgentRun", "a", RUNNER_STATUS, RUNNER)
    with pytest.raises(ApiError) as refused:
        await api.apply_status("AgentRun", "a", {"phase": "Running"}, OPERATOR, version=old)
    assert (refused.value.code, refused.value.reason) == (409, "Conflict")


async def test_the_same_again_is_no_write(api: ApiServer) -> None:
    first = await both(api)
    again = await api.apply_status("AgentRun", "a", RUNNER_STATUS, RUNNER)
    assert again["metadata"] == first["metadata"]


async def test_status_and_spec_have_separate_ways(api: ApiServer) -> None:
    await both(api)
    run = await api.patch("AgentRun", "a", {"status": {"phase": "Failed"}, "spec": {"cancel": True}})
    assert (run["status"]["phase"], run["spec"]["cancel"]) == ("Running", True)
    run = await api.patch("AgentRun", "a", {"spec": {"cancel": False}}, subresource="status")
    assert run["spec"]["cancel"] is True


@pytest.mark.parametrize(
    ("status", "field"),
    [
        ({"phase": "Done"}, "status.phase"),
        ({"conditions": [{"type": "Ready"}]}, "status.conditions[0].status"),
        ({"epoch": -1}, "status.epoch"),
        ({"startTime": "yesterday"}, "status.startTime"),
        ({"runner": {"epoch": 1, "podUID": "u", "answer": "a" * 8193}}, "status.runner.answer"),
    ],
)
async def test_a_bad_status_is_refused(api: ApiServer, status: dict[str, object], field: str) -> None:
    await api.create(a_run())
    with pytest.raises(ApiError) as refused:
        await api.patch("AgentRun", "a", {"status": status}, subresource="status")
    assert field in refused.value.fields


async def test_a_field_that_the_schema_lacks_breaks_an_apply_loudly(api: ApiServer) -> None:
    await api.create(a_run())
    with pytest.raises(ApiError, match="field not declared in schema"):
        await api.apply_status("AgentRun", "a", {"phse": "Running"}, OPERATOR)
