"""The tests' own client of the API server does what the other tests take for granted."""

from __future__ import annotations

import asyncio

import pytest

from skerry_testing.apierrors import ApiError
from skerry_testing.apiserver import ApiServer, Json
from skerry_testing.controlplane import ControlPlane
from skerry_testing.fixtures import temporary_namespace
from skerry_testing.manifests import a_run

WHOAMI = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
POD_NAME = "authentication.kubernetes.io/pod-name"


async def whoami(api: ApiServer) -> Json:
    answer = await api.http.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", json=WHOAMI)
    user: Json = answer.raise_for_status().json()["status"]["userInfo"]
    return user


def a_pod(name: str = "p") -> Json:
    spec = {"containers": [{"name": "c", "image": "i"}], "automountServiceAccountToken": False}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


async def test_find_get_list(api: ApiServer) -> None:
    assert await api.find("AgentRun", "a") is None
    with pytest.raises(ApiError) as missing:
        await api.get("AgentRun", "a")
    assert (missing.value.code, missing.value.reason) == (404, "NotFound")
    await api.create(a_run(metadata={"labels": {"x": "1"}}))
    assert [run["kind"] for run in await api.list("AgentRun", labels="x=1")] == ["AgentRun"]
    assert await api.list("AgentRun", labels="x=2") == []


async def test_a_watch_sees_what_happens_from_a_version_on(api: ApiServer) -> None:
    version = (await api.create(a_run("before")))["metadata"]["resourceVersion"]
    async with api.watch("AgentRun", version=version) as events:
        await api.create(a_run("after"))
        await api.delete("AgentRun", "before")
        seen = [await anext(events), await anext(events)]
    assert [(each["type"], each["object"]["metadata"]["name"]) for each in seen] == [
        ("ADDED", "after"), ("DELETED", "before"),
    ]  # fmt: skip


async def test_waiting_for_a_state_and_for_an_end(api: ApiServer) -> None:
    async def act() -> None:
        await api.create(a_run())
        await api.apply_status("AgentRun", "a", {"phase": "Running"}, "test")
        await api.delete("AgentRun", "a")

    waiting = asyncio.create_task(
        api.wait_for("AgentRun", "a", lambda run: run.get("status", {}).get("phase") == "Running")
    )
    await asyncio.gather(waiting, act())
    await api.wait_gone("AgentRun", "a")


async def test_waiting_in_vain_shows_the_object(api: ApiServer) -> None:
    await api.create(a_run())
    with pytest.raises(AssertionError, match=r'(?s)AgentRun a did not come to it.*"prompt": "hello"'):
        await api.wait_for("AgentRun", "a", lambda _: False, within=0.2)
    with pytest.raises(AssertionError, match=r'(?s)AgentRun a stayed.*"prompt": "hello"'):
        await api.wait_gone("AgentRun", "a", within=0.2)


async def test_a_token_of_a_pod(api: ApiServer) -> None:
    pod = await api.create(a_pod())
    async with api.as_token(await api.token_for("default", pod)) as bound:
        user = await whoami(bound)
    assert user["username"] == f"system:serviceaccount:{api.namespace}:default"
    assert user["extra"][POD_NAME] == ["p"]
    async with api.as_token(await api.token_for("default")) as loose:
        assert POD_NAME not in (await whoami(loose))["extra"]
        with pytest.raises(ApiError) as refused:
            await loose.list("AgentRun")
    assert refused.value.code == 403


async def test_impersonation(api: ApiServer) -> None:
    async with api.as_user("ann", "team-a", "team-b", **{POD_NAME: "p"}) as ann:
        user = await whoami(ann)
    assert user["username"] == "ann"
    assert set(user["groups"]) >= {"team-a", "team-b"}
    assert user["extra"] == {POD_NAME: ["p"]}


async def test_deleting_another_object_of_the_name_is_refused(api: ApiServer) -> None:
    await api.create(a_run())
    with pytest.raises(ApiError) as refused:
        await api.delete("AgentRun", "a", uid="another")
    assert refused.value.reason == "Conflict"


async def test_patches(api: ApiServer) -> None:
    await api.create(a_pod())
    await api.patch("Pod", "p", {"metadata": {"labels": {"a": "1"}}}, how="strategic")
    await api.patch("Pod", "p", [{"op": "add", "path": "/metadata/labels/b", "value": "2"}], how="json")
    status = {"status": {"phase": "Running", "podIP": "192.0.2.7"}}
    pod = await api.patch("Pod", "p", status, subresource="status")
    assert pod["metadata"]["labels"] == {"a": "1", "b": "2"}
    assert pod["status"]["phase"] == "Running"


async def test_a_namespace_goes_with_its_test(plane: ControlPlane) -> None:
    async with temporary_namespace(plane.access) as inner:
        await inner.create(a_run())
        await inner.create(a_pod())
    async with ApiServer(plane.access) as admin:
        await admin.wait_gone("Namespace", inner.namespace)
        runs = await admin.list("AgentRun")
    assert inner.namespace not in {run["metadata"]["namespace"] for run in runs}
