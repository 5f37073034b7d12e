from __future__ import annotations

from pathlib import Path

import pytest

from skerry_runner.cluster.environment import BadEnvironment, Identity, read_environment

POD = {
    "POD_NAME": "my-run-12",
    "POD_UID": "u",
    "POD_NAMESPACE": "ns",
    "NODE_NAME": "n1",
    "KUBERNETES_SERVICE_HOST": "10.0.0.1",
    "KUBERNETES_SERVICE_PORT": "6443",
}


def test_a_pod_knows_run_and_epoch_from_its_name() -> None:
    env = read_environment(POD)
    assert env.identity == Identity("ns", "my-run", 12, pod_uid="u", node="n1")
    assert env.api_server == "https://10.0.0.1:6443"
    assert env.document == Path("/etc/skerry/run/document.json")


@pytest.mark.parametrize(
    ("changes", "server"),
    [
        ({"KUBERNETES_SERVICE_HOST": "fd00::1"}, "https://[fd00::1]:6443"),
        ({"SKERRY_API_SERVER": "http://127.0.0.1:8001/"}, "http://127.0.0.1:8001"),
    ],
)
def test_the_api_server_may_be_ipv6_or_named_outright(changes: dict[str, str], server: str) -> None:
    assert read_environment(POD | changes).api_server == server


def test_all_that_is_missing_is_said_at_once() -> None:
    with pytest.raises(BadEnvironment) as caught:
        read_environment({})
    for name in ("POD_NAME", "POD_UID", "POD_NAMESPACE", "KUBERNETES_SERVICE_HOST"):
        assert f"{name} is not set" in str(caught.value)


@pytest.mark.parametrize("name", ["noepoch", "run-0", "run-x", "-3"])
def test_a_pod_name_without_run_or_epoch_is_refused(name: str) -> None:
    with pytest.raises(BadEnvironment, match="<run>-<epoch>"):
        read_environment(POD | {"POD_NAME": name})
