"""Every object that we build, against a stored one: a change of what reaches clusters is seen in review.

`UPDATE_GOLDEN=1 pytest tests/unit/op/build` writes them anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from skerry_api.persistence import StateVolume
from skerry_operator.build.policies import build_class_policy, build_profile_policy
from skerry_operator.build.runner_pod import build_runner_pod
from skerry_operator.build.sandbox_pod import build_sandbox, build_sandbox_pod
from skerry_operator.build.state_volume import build_state_volume
from skerry_testing.plans import SETTINGS, a_class, a_profile, a_run, a_sandbox

Json = dict[str, Any]
GOLDEN = Path(__file__).parents[3] / "data" / "op"

RICH_PROFILE = a_profile(
    model={
        "name": "openai:m", "baseUrl": "https://models.example/v1", "apiKeySecretRef": {"name": "keys", "key": "openai"},
    },
    skills=[
        {"name": "pdf", "configMapRef": {"name": "skill-pdf"}},
        {"name": "off", "configMapRef": {"name": "skill-off"}, "enabled": False},
    ],
    runner={
        "image": "own/runner:2", "imagePullPolicy": "Always", "resources": {"limits": {"cpu": "2", "memory": "100Mi"}},
        "network": {"allow": ["10.9.0.0/16", "fd00::1/64"]},
    },
)  # fmt: skip
RICH_CLASS = a_class(
    "gpu",
    template={
        "image": "own/sandbox:2", "runtimeClassName": "gvisor", "nodeSelector": {"pool": "gpu"}, "userNamespace": False,
        "env": [{"name": "LANG", "value": "C.UTF-8"}], "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "memory": "2Gi"}},
    },
    network={"egress": "Internet", "allow": ["10.9.0.0/16"]},
    workspaceSize="4Gi",
)  # fmt: skip

CASES: dict[str, Callable[[], Json]] = {
    "runner-pod": lambda: build_runner_pod(a_run(), a_profile(), 1, "{}", SETTINGS),
    "runner-pod-rich": lambda: build_runner_pod(a_run(), RICH_PROFILE, 3, "{}", SETTINGS),
    "runner-pod-volume": lambda: build_runner_pod(
        a_run(threadId="t", userId="ann"), a_profile(persistence={"type": "Volume"}), 1, "{}", SETTINGS
    ),
    "runner-pod-postgres": lambda: build_runner_pod(
        a_run(),
        a_profile(
            persistence={"type": "Postgres", "postgres": {"dsnSecretRef": {"name": "db", "key": "dsn"}}}
        ),
        1,
        "{}",
        SETTINGS,
    ),
    "state-volume": lambda: build_state_volume(a_run(threadId="t", userId="ann"), StateVolume()),
    "state-volume-own-thread": lambda: build_state_volume(
        a_run(), StateVolume(size="5Gi", storage_class_name="fast", retention_seconds=60)
    ),
    "sandbox": lambda: build_sandbox(a_run(threadId="t", userId="ann"), "default"),
    "sandbox-own-thread": lambda: build_sandbox(a_run(), "default"),
    "sandbox-pod": lambda: build_sandbox_pod(a_sandbox(), a_class(), SETTINGS),
    "sandbox-pod-rich": lambda: build_sandbox_pod(a_sandbox(), RICH_CLASS, SETTINGS),
    "class-policy-none": lambda: build_class_policy(a_class(), SETTINGS),
    "class-policy-dns": lambda: build_class_policy(a_class(network={"egress": "DNS"}), SETTINGS),
    "class-policy-internet": lambda: build_class_policy(RICH_CLASS, SETTINGS),
    "profile-policy": lambda: build_profile_policy(RICH_PROFILE),
}


@pytest.mark.parametrize("name", CASES)
def test_as_stored(name: str) -> None:
    path, built = GOLDEN / f"{name}.yaml", CASES[name]()
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(yaml.safe_dump(built, sort_keys=False))
    assert yaml.safe_load(path.read_text()) == built


def test_every_stored_object_is_tested() -> None:
    assert {path.stem for path in GOLDEN.glob("*.yaml")} == set(CASES)


def test_building_twice_gives_the_same() -> None:
    assert {name: build() for name, build in CASES.items()} == {
        name: build() for name, build in CASES.items()
    }
