"""Pod Security `restricted` and the lines of ours beyond it, for every Pod that we build."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_operator.build.runner_pod import build_runner_pod
from skerry_operator.build.sandbox_pod import build_sandbox_pod
from skerry_testing.plans import SETTINGS, a_class, a_profile, a_run, a_sandbox

Json = dict[str, Any]
RUNNER = build_runner_pod(a_run(), a_profile(), 1, "{}", SETTINGS)
SANDBOX = build_sandbox_pod(a_sandbox(), a_class(), SETTINGS)
ALLOWED_VOLUMES = {"configMap", "downwardAPI", "emptyDir", "projected", "name"}


@pytest.mark.parametrize("pod", [RUNNER, SANDBOX], ids=["runner", "sandbox"])
def test_restricted(pod: Json) -> None:
    spec = pod["spec"]
    [container] = spec["containers"]
    security = container["securityContext"]
    assert security["allowPrivilegeEscalation"] is False
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert security["readOnlyRootFilesystem"] is True
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] == 10001
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()
    assert all(volume.keys() <= ALLOWED_VOLUMES for volume in spec["volumes"])
    assert {"cpu", "memory", "ephemeral-storage"} <= container["resources"]["limits"].keys()
    assert spec["restartPolicy"] == "Never"
    assert spec["automountServiceAccountToken"] is False


def test_a_sandbox_has_no_token_no_secret_and_a_user_namespace() -> None:
    spec = SANDBOX["spec"]
    assert all("projected" not in volume for volume in spec["volumes"])
    assert "serviceAccountName" not in spec
    assert spec["hostUsers"] is False
    assert "secretKeyRef" not in str(SANDBOX)


def test_volumes_have_limits() -> None:
    sizes = [
        volume["emptyDir"]["sizeLimit"]
        for pod in (RUNNER, SANDBOX)
        for volume in pod["spec"]["volumes"]
        if "emptyDir" in volume
    ]
    assert len(sizes) == 6
    assert all(sizes)
