"""The CronJobs that draw facts: what they run with, what they may reach, and that a cluster takes them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from skerry_api.document import API_KEY_ENV, DSN_ENV
from skerry_runner.flush_memory import PROFILE_ENV, read_job
from skerry_testing.apierrors import ApiError
from skerry_testing.apiserver import ApiServer
from skerry_testing.helm import Helm, HelmError

from .conftest import RUNS, Installed

Json = dict[str, Any]
DSN = {"name": "pg", "key": "dsn"}


def one(**fields: Any) -> Json:
    return {
        "memoryFlush": [{"namespace": "skerry-runs", "profile": "assistant", "dsnSecretRef": DSN, **fields}]
    }


def test_there_are_none_by_default(helm: Helm) -> None:
    assert helm.template().of_kind("CronJob") == []


def test_the_job_has_what_it_reads(helm: Helm) -> None:
    values = one(apiKeySecretRef={"name": "openai", "key": "k"}, schedule="1 * * * *")
    job = helm.template(values).one("CronJob", "skerry-memory-assistant", "skerry-runs")["spec"]
    assert (job["schedule"], job["concurrencyPolicy"]) == ("1 * * * *", "Forbid")
    pod = job["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["command"][-2:] == ["-m", "skerry_runner.flush_memory"]
    env = {each["name"]: each for each in container["env"]}
    assert env[DSN_ENV]["valueFrom"] == {"secretKeyRef": DSN}
    assert env[API_KEY_ENV]["valueFrom"] == {"secretKeyRef": {"name": "openai", "key": "k"}}
    assert env[PROFILE_ENV]["value"] == "assistant"
    # Beside these, the kubelet gives every container the Service of the API server.
    told = dict.fromkeys(env, "x") | {"KUBERNETES_SERVICE_HOST": "192.0.2.1"}
    assert read_job(told).api_server == "https://192.0.2.1:443"
    assert (
        pod["securityContext"]["runAsNonRoot"],
        container["securityContext"]["readOnlyRootFilesystem"],
    ) == (True, True)
    assert pod["serviceAccountName"] == "skerry-memory-assistant"


def test_without_a_key_there_is_no_variable_for_it(helm: Helm) -> None:
    job = helm.template(one()).one("CronJob", "skerry-memory-assistant")["spec"]
    (container,) = job["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert API_KEY_ENV not in {each["name"] for each in container["env"]}
    assert job["schedule"] == "*/5 * * * *"


def test_it_reaches_its_database_and_what_runners_reach_but_no_sandbox(helm: Helm) -> None:
    rendered = helm.template(one(allow=["192.0.2.7/32"]))
    policy = rendered.one("NetworkPolicy", "skerry-memory-assistant")["spec"]
    runner = rendered.one("NetworkPolicy", "skerry-runner-egress")["spec"]["egress"]
    *shared, database = policy["egress"]
    assert shared == [rule for rule in runner if rule["ports"] != [{"protocol": "TCP", "port": 8090}]]
    assert len(shared) == len(runner) - 1
    assert database == {"to": [{"ipBlock": {"cidr": "192.0.2.7/32"}}]}
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert "ingress" not in policy
    labels = rendered.one("CronJob", "skerry-memory-assistant")["spec"]["jobTemplate"]["spec"]["template"][
        "metadata"
    ]["labels"]
    assert policy["podSelector"]["matchLabels"].items() <= labels.items()


def test_long_names_stay_apart_and_within_bounds(helm: Helm) -> None:
    profiles = ["p" * 60 + end for end in ("a", "b")]
    rendered = helm.template({"memoryFlush": [one(profile=each)["memoryFlush"][0] for each in profiles]})
    names = {each["metadata"]["name"] for each in rendered.of_kind("CronJob")}
    assert len(names) == 2
    assert max(map(len, names)) <= 52


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"namespace": "elsewhere"}, "memoryFlush[0].namespace: elsewhere is not among runNamespaces"),
        ({"dsnSecretRef": {"name": "pg"}}, "/memoryFlush/0/dsnSecretRef"),
        ({"profil": "x"}, "'profil' not allowed"),
    ],
)
def test_bad_values_are_refused_by_name(helm: Helm, fields: Json, said: str) -> None:
    with pytest.raises(HelmError) as caught:
        helm.template(one(**fields))
    assert said in str(caught.value)


async def test_a_cluster_takes_it_and_lets_it_read_its_profile_alone(
    installed: Installed, admin: ApiServer
) -> None:
    entry = {"namespace": RUNS, "profile": "scripted", "dsnSecretRef": DSN}
    await asyncio.to_thread(installed.upgrade, memoryFlush=[entry])
    try:
        token = await admin.token_for("skerry-memory-scripted")
        async with admin.as_token(token) as job:
            assert (await job.get("AgentProfile", "scripted"))["metadata"]["name"] == "scripted"
            for kind, name in (("AgentProfile", "another"), ("AgentRun", "any"), ("Sandbox", "any")):
                with pytest.raises(ApiError) as refused:
                    await job.get(kind, name)
                assert refused.value.code == 403, kind
    finally:
        await asyncio.to_thread(installed.upgrade)
