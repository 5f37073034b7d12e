"""What the operator builds, as the real API server takes it: strict fields, Pod Security `restricted`, policies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from skerry_api.agentrun import AgentRun
from skerry_api.sandbox import Sandbox
from skerry_operator.build.policies import build_class_policy, build_profile_policy
from skerry_operator.build.runner_pod import build_runner_pod
from skerry_operator.build.sandbox_pod import build_sandbox, build_sandbox_pod
from skerry_testing.apiserver import ApiServer
from skerry_testing.plans import SETTINGS, a_class, a_profile, a_run, a_sandbox

Json = dict[str, Any]
ALLOW = {"allow": ["10.9.0.0/16", "fd00::/64"]}
PROFILE = a_profile(
    model={"name": "openai:m", "apiKeySecretRef": {"name": "s", "key": "k"}}, runner={"network": ALLOW}
)


def sandbox_pod(**spec: Any) -> Json:
    return build_sandbox_pod(a_sandbox(), a_class(**spec), SETTINGS)


CASES: dict[str, Callable[[], Json]] = {
    "runner": lambda: build_runner_pod(a_run(), PROFILE, 1, "x" * 190_000, SETTINGS),
    "sandbox without egress": sandbox_pod,
    "sandbox with DNS": lambda: sandbox_pod(network={"egress": "DNS"}, template={"userNamespace": False}),
    "sandbox with internet": lambda: sandbox_pod(network={"egress": "Internet"}),
    "policy none": lambda: build_class_policy(a_class(), SETTINGS),
    "policy DNS": lambda: build_class_policy(a_class(network={"egress": "DNS"}), SETTINGS),
    "policy internet": lambda: build_class_policy(a_class(network={"egress": "Internet", **ALLOW}), SETTINGS),
    "policy of a profile": lambda: build_profile_policy(PROFILE),
    "Sandbox": lambda: build_sandbox(a_run(threadId="t"), "default"),
}


@pytest.fixture
async def restricted(api: ApiServer) -> ApiServer:
    label = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    await api.patch("Namespace", api.namespace, label)
    await api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "skerry-runner"}})
    return api


@pytest.mark.parametrize("name", CASES)
async def test_the_server_takes_it(restricted: ApiServer, name: str) -> None:
    built = CASES[name]()
    built["metadata"]["namespace"] = restricted.namespace
    made = await restricted.create(built, dry_run=True)
    assert made["metadata"]["name"] == built["metadata"]["name"]


async def test_our_kinds_read_what_the_server_stores(restricted: ApiServer) -> None:
    built = build_sandbox(a_run(threadId="t"), "default")
    built["metadata"]["namespace"] = restricted.namespace
    sandbox = Sandbox.read(await restricted.create(built))
    assert (sandbox.spec.class_ref.name, sandbox.spec.thread_id) == ("default", "t")
    spec = {"profileRef": {"name": "coder"}, "prompt": "p"}
    run = await restricted.create(
        {"apiVersion": "skerry.dev/v1alpha1", "kind": "AgentRun", "metadata": {"name": "r"}, "spec": spec}
    )
    assert AgentRun.read(run).spec.retries == 2
