"""What every KubePort must do, the one in memory like the real one: each function is one promise."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from skerry_operator.errors import AlreadyExists, Conflict, NotFound
from skerry_operator.kube.kinds import CONFIG_MAP, LEASE, NETWORK_POLICY, POD, RUN, SANDBOX, VOLUME
from skerry_operator.kube.port import RUNNER_MANAGER, KubePort
from skerry_testing.manifests import a_run, a_sandbox
from skerry_testing.opworld import placed

__all__ = ["PROMISES", "Promise"]

Json = dict[str, Any]
Promise = Callable[[KubePort, str], Awaitable[None]]


def pod(namespace: str, name: str = "a", **labels: str) -> Json:
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    spec = {"containers": [{"name": "c", "image": "i"}], "automountServiceAccountToken": False}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def version(found: Any) -> str:
    return str(found["metadata"]["resourceVersion"])


def uid(found: Any) -> str:
    return str(found["metadata"]["uid"])


async def what_was_created_can_be_read(port: KubePort, ns: str) -> None:
    assert await port.get(RUN, ns, "a") is None
    made = await port.create(RUN, ns, placed(a_run("a"), ns))
    assert uid(made)
    assert made["metadata"]["generation"] == 1
    found = await port.get(RUN, ns, "a")
    assert found is not None
    assert (uid(found), version(found)) == (uid(made), version(made))
    assert int(version(made)) > 0


async def a_taken_name_is_already_exists(port: KubePort, ns: str) -> None:
    await port.create(RUN, ns, placed(a_run("a"), ns))
    with pytest.raises(AlreadyExists):
        await port.create(RUN, ns, placed(a_run("a"), ns))


async def a_status_in_a_create_is_dropped(port: KubePort, ns: str) -> None:
    made = await port.create(RUN, ns, placed(a_run("a"), ns) | {"status": {"phase": "Running"}})
    assert "status" not in made


async def a_list_selects_by_labels_and_says_as_of_when(port: KubePort, ns: str) -> None:
    await port.create(POD, ns, pod(ns, "a", app="x", part="one"))
    await port.create(POD, ns, pod(ns, "b", app="x", part="two"))
    last = await port.create(POD, ns, pod(ns, "c", app="y", part="one"))

    async def names(labels: str) -> list[str]:
        listing = await port.list(POD, ns, labels=labels)
        assert int(listing.resource_version) >= int(version(last))
        return sorted(item["metadata"]["name"] for item in listing.items)

    assert await names("") == ["a", "b", "c"]
    assert await names("app=x") == ["a", "b"]
    assert await names("app=x,part in (one,three)") == ["a"]
    assert await names("part in (one,two),app=y") == ["c"]
    assert await names("app=z") == []


async def a_metadata_list_has_what_a_resync_compares(port: KubePort, ns: str) -> None:
    made = await port.create(RUN, ns, placed(a_run("a"), ns))
    (item,) = (await port.list(RUN, ns, metadata_only=True)).items
    assert (uid(item), version(item)) == (uid(made), version(made))
    assert (item["metadata"]["namespace"], item["metadata"]["name"]) == (ns, "a")
    assert "spec" not in item


async def a_list_hands_whole_objects_to_its_sink(port: KubePort, ns: str) -> None:
    for name in ("a", "b"):
        await port.create(RUN, ns, placed(a_run(name), ns))
    seen: list[Any] = []
    listing = await port.list(RUN, ns, sink=seen.append)
    assert sorted(item["metadata"]["name"] for item in seen) == ["a", "b"]
    assert all(item["spec"]["prompt"] == "hello" for item in seen)
    assert sorted(item["metadata"]["name"] for item in listing.items) == ["a", "b"]
    assert all("spec" not in item for item in listing.items)


async def statuses_of_two_managers_do_not_touch(port: KubePort, ns: str) -> None:
    made = await port.create(RUN, ns, placed(a_run("a"), ns))
    first = await port.apply_status(
        RUN, ns, "a", {"phase": "Pending", "podName": "p"}, resource_version=version(made)
    )
    runner = {"sandboxId": "s", "runner": {"epoch": 1, "podUID": "u"}}
    second = await port.apply_status(
        RUN, ns, "a", runner, resource_version=version(first), manager=RUNNER_MANAGER
    )
    assert second["status"] == {"phase": "Pending", "podName": "p", **runner}
    third = await port.apply_status(RUN, ns, "a", {"phase": "Running"}, resource_version=version(second))
    assert third["status"] == {"phase": "Running", **runner}, "what a manager omits goes, the other's stays"
    fourth = await port.apply_status(
        RUN,
        ns,
        "a",
        {"runner": {"epoch": 1, "podUID": "u"}},
        resource_version=version(third),
        manager=RUNNER_MANAGER,
    )
    assert "sandboxId" not in fourth["status"]


async def an_unchanged_status_is_no_change(port: KubePort, ns: str) -> None:
    made = await port.create(RUN, ns, placed(a_run("a"), ns))
    first = await port.apply_status(RUN, ns, "a", {"phase": "Pending"}, resource_version=version(made))
    again = await port.apply_status(RUN, ns, "a", {"phase": "Pending"}, resource_version=version(first))
    assert version(again) == version(first)
    assert int(version(first)) > int(version(made))


async def a_stale_status_is_a_conflict(port: KubePort, ns: str) -> None:
    made = await port.create(RUN, ns, placed(a_run("a"), ns))
    await port.apply_status(RUN, ns, "a", {"phase": "Pending"}, resource_version=version(made))
    with pytest.raises(Conflict):
        await port.apply_status(RUN, ns, "a", {"phase": "Queued"}, resource_version=version(made))
    found = await port.get(RUN, ns, "a")
    assert found is not None
    assert found["status"]["phase"] == "Pending"


async def a_status_of_nothing_is_not_found(port: KubePort, ns: str) -> None:
    with pytest.raises(NotFound):
        await port.apply_status(RUN, ns, "a", {"phase": "Pending"}, resource_version="1")


async def a_delete_takes_only_the_object_of_that_uid(port: KubePort, ns: str) -> None:
    made = await port.create(SANDBOX, ns, placed(a_sandbox("a"), ns))
    with pytest.raises(Conflict):
        await port.delete(SANDBOX, ns, "a", uid="11111111-1111-1111-1111-111111111111")
    assert await port.delete(SANDBOX, ns, "a", uid=uid(made)) is None
    assert await port.get(SANDBOX, ns, "a") is None
    assert await port.delete(SANDBOX, ns, "a", uid=uid(made)) is None, "gone already"


async def an_unscheduled_pod_goes_at_once(port: KubePort, ns: str) -> None:
    made = await port.create(POD, ns, pod(ns))
    await port.delete(POD, ns, "a", uid=uid(made))
    assert await port.get(POD, ns, "a") is None


async def a_recreated_object_is_newer_and_another(port: KubePort, ns: str) -> None:
    first = await port.create(RUN, ns, placed(a_run("a"), ns))
    await port.delete(RUN, ns, "a", uid=uid(first))
    second = await port.create(RUN, ns, placed(a_run("a"), ns))
    assert uid(second) != uid(first)
    assert int(version(second)) > int(version(first)) + 1, "the deletion has a version of its own"


async def an_apply_creates_then_changes_then_rests(port: KubePort, ns: str) -> None:
    def policy(value: str) -> Json:
        metadata = {"name": "a", "namespace": ns, "annotations": {"skerry.dev/template-hash": value}}
        spec = {"podSelector": {"matchLabels": {"a": value}}, "policyTypes": ["Egress"]}
        return {
            "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": spec,
        }  # fmt: skip

    made = await port.apply(NETWORK_POLICY, ns, "a", policy("1"))
    changed = await port.apply(NETWORK_POLICY, ns, "a", policy("2"))
    assert uid(changed) == uid(made)
    assert changed["spec"]["podSelector"]["matchLabels"] == {"a": "2"}
    assert changed["metadata"]["annotations"]["skerry.dev/template-hash"] == "2"
    assert version(await port.apply(NETWORK_POLICY, ns, "a", policy("2"))) == version(changed)


async def a_replace_is_held_to_its_version(port: KubePort, ns: str) -> None:
    def lease(holder: str, at: str | None = None) -> Json:
        metadata = {"name": "a", "namespace": ns} | ({"resourceVersion": at} if at else {})
        spec = {"holderIdentity": holder, "leaseDurationSeconds": 15}
        return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}

    made = await port.create(LEASE, ns, lease("one"))
    taken = await port.replace(LEASE, ns, "a", lease("two", version(made)))
    assert taken["spec"]["holderIdentity"] == "two"
    with pytest.raises(Conflict):
        await port.replace(LEASE, ns, "a", lease("three", version(made)))


async def a_config_map_is_read_whole(port: KubePort, ns: str) -> None:
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": ns},
        "data": {"k": "v"},
    }
    await port.create(CONFIG_MAP, ns, body)
    found = await port.get(CONFIG_MAP, ns, "a")
    assert found is not None
    assert found["data"] == {"k": "v"}


async def an_apply_may_say_which_version_it_means(port: KubePort, ns: str) -> None:
    def claim(**meta: Any) -> Json:
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        metadata = {"name": "a", "namespace": ns, **meta}
        return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}

    with pytest.raises(Conflict):
        await port.apply(VOLUME, ns, "a", claim(uid="0f0e0d0c-0b0a-0908-0706-050403020100"))
    made = await port.apply(VOLUME, ns, "a", claim(annotations={"one": "1", "two": "2"}))
    seen = {"uid": uid(made), "resourceVersion": version(made)}
    changed = await port.apply(VOLUME, ns, "a", claim(annotations={"one": "1"}, **seen))
    assert changed["metadata"]["annotations"] == {"one": "1"}, "what is left out is dropped"
    with pytest.raises(Conflict):
        await port.apply(VOLUME, ns, "a", claim(annotations={"one": "3"}, **seen))
    found = await port.get(VOLUME, ns, "a")
    assert found is not None
    assert version(found) == version(changed)


PROMISES: tuple[Promise, ...] = (
    what_was_created_can_be_read,
    a_taken_name_is_already_exists,
    a_status_in_a_create_is_dropped,
    a_list_selects_by_labels_and_says_as_of_when,
    a_metadata_list_has_what_a_resync_compares,
    a_list_hands_whole_objects_to_its_sink,
    statuses_of_two_managers_do_not_touch,
    an_unchanged_status_is_no_change,
    a_stale_status_is_a_conflict,
    a_status_of_nothing_is_not_found,
    a_delete_takes_only_the_object_of_that_uid,
    an_unscheduled_pod_goes_at_once,
    a_recreated_object_is_newer_and_another,
    an_apply_creates_then_changes_then_rests,
    an_apply_may_say_which_version_it_means,
    a_replace_is_held_to_its_version,
    a_config_map_is_read_whole,
)
