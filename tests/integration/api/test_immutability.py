"""Which fields of a spec may change: each one tried by change, removal and addition on the real API server."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from skerry_api.base import MUTABLE
from skerry_api.kinds import KINDS
from skerry_api.strict import check
from skerry_api.structural import structural
from skerry_testing.apierrors import ApiError
from skerry_testing.apiserver import ApiServer, Json
from skerry_testing.manifests import a_run, a_sandbox

RUN_FIELDS = structural(KINDS["AgentRun"])["properties"]["spec"]["properties"]
FROM = {"configMapKeyRef": {"name": "c", "key": "k"}}
VALUES: dict[str, tuple[Any, Any]] = {
    "profileRef": ({"name": "p"}, {"name": "q"}),
    "prompt": ("one", "two"),
    "promptFrom": (FROM, {"configMapKeyRef": {"name": "c", "key": "l"}}),
    "files": ([{"name": "a", "inline": "1"}], [{"name": "a", "inline": "2"}]),
    "userId": ("ann", "bob"),
    "threadId": ("t", "u"),
    "model": ({"parameters": {"seed": "1"}}, {"parameters": {"seed": "2"}}),
    "sandbox": ({"acquire": "Eager"}, {"acquire": "Lazy"}),
    "limits": ({"maxTurns": 5}, {"maxTurns": 6}),
    "retries": (1, 0),
    "cancel": (True, False),
    "answers": ([{"questionId": "q", "text": "yes"}], [{"questionId": "r", "text": "no"}]),
    "ttlSecondsAfterFinished": (60, 0),
}
NEVER_ABSENT = {"profileRef"}
CHANGES = [
    (field, change)
    for field in RUN_FIELDS
    for change in ("changed", "removed", "added", "kept")
    if not (change == "added" and field in NEVER_ABSENT)
]


def a_run_with(field: str, value: Any) -> Json:
    others = {"prompt": ...} if field == "promptFrom" else {}
    return a_run(**{**others, field: value})


async def faults(api: ApiServer, manifest: Json) -> dict[str, str]:
    """What a replacing PUT is refused for: message by field."""
    live = await api.get(manifest["kind"], manifest["metadata"]["name"])
    changed = copy.deepcopy(manifest)
    changed["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"]
    offline = {problem.path for problem in check(changed, live)}
    found: dict[str, str] = {}
    try:
        await api.replace(changed)
    except ApiError as error:
        found = {cause.field: cause.message for cause in error.causes if cause.field in error.fields}
    assert offline == found.keys()
    return found


def test_every_field_has_its_values() -> None:
    assert VALUES.keys() == RUN_FIELDS.keys()


@pytest.mark.parametrize(("field", "change"), CHANGES)
async def test_fields_of_a_run(api: ApiServer, field: str, change: str) -> None:
    one, two = VALUES[field]
    before, after = {"changed": (one, two), "removed": (one, ...), "added": (..., one), "kept": (one, one)}[
        change
    ]
    start, end = a_run_with(field, before), a_run_with(field, after)
    if field == "prompt" and before is ...:  # A run has one of them, so that is what it has without a prompt.
        start["spec"]["promptFrom"] = FROM
    if field == "promptFrom":
        start["spec"] |= {"prompt": "x"} if before is ... else {}
        end["spec"] |= {"prompt": "x"} if after is ... else {}
    await api.create(start)
    found = await faults(api, end)
    if MUTABLE in RUN_FIELDS[field] or change == "kept":
        assert found == {}
    elif change == "removed" and field in NEVER_ABSENT:
        assert found == {f"spec.{field}": "Required value"}
    else:
        assert f"Forbidden: {field} can't be changed after creation" in found[f"spec.{field}"]


async def test_answers_come_and_go_and_stay_as_they_were_given(api: ApiServer) -> None:
    one, two = {"questionId": "q-1", "text": "yes"}, {"questionId": "q-2", "text": "no"}
    await api.create(a_run(answers=[one]))
    assert await faults(api, a_run(answers=[two, one])) == {}
    changed = await faults(api, a_run(answers=[two, {**one, "text": "no"}]))
    assert changed == {"spec.answers[1].text": "Forbidden: text can't be changed after creation"}
    assert await faults(api, a_run(answers=[one])) == {}
    assert await faults(api, a_run(answers=[])) == {}
    assert await faults(api, a_run(answers=[{**one, "text": "no"}])) == {}


async def test_fields_that_default_may_be_left_out_again(api: ApiServer) -> None:
    await api.create(a_run(retries=2, userId="default", limits={"maxTurns": 100}))
    assert await faults(api, a_run()) == {}


async def test_a_sandbox_is_immutable_as_a_whole(api: ApiServer) -> None:
    await api.create(a_sandbox())
    for changed in (a_sandbox(threadId="u"), a_sandbox(idleSeconds=5), a_sandbox(userId="bob")):
        assert await faults(api, changed) == {"spec": "Forbidden: can't be changed after creation"}
    assert await faults(api, a_sandbox()) == {}


async def test_labels_may_always_change(api: ApiServer) -> None:
    await api.create(a_run())
    run = await api.patch("AgentRun", "a", {"metadata": {"labels": {"team": "x"}}})
    assert run["metadata"]["labels"] == {"team": "x"}
