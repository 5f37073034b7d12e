"""Defaults as the API server fills them in; the integration tests hold both against each other."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from skerry_api.defaults import apply_defaults
from skerry_api.kinds import KINDS
from skerry_testing.manifests import CASES, Case, a_class, a_profile, a_run

LIMITS = {"startupDeadlineSeconds": 600, "activeDeadlineSeconds": 3600, "maxTurns": 100}


def test_a_run() -> None:
    assert apply_defaults(a_run())["spec"] == {
        "profileRef": {"name": "p"}, "prompt": "hello", "userId": "default", "limits": LIMITS, "retries": 2,
        "cancel": False,
    }  # fmt: skip


@pytest.mark.parametrize("limits", [None, {}, {"maxTurns": None}])
def test_null_is_absence(limits: Any) -> None:
    assert apply_defaults(a_run(limits=limits))["spec"]["limits"] == LIMITS


def test_what_is_given_stays() -> None:
    full = apply_defaults(a_run(limits={"maxTurns": 5}, userId="ann", cancel=True))
    assert full["spec"]["limits"] == {**LIMITS, "maxTurns": 5}
    assert (full["spec"]["userId"], full["spec"]["cancel"]) == ("ann", True)


def test_a_class_without_spec() -> None:
    manifest = a_class()
    del manifest["spec"]
    spec = apply_defaults(manifest)["spec"]
    assert (spec["provider"], spec["release"], spec["idleSeconds"]) == ("Pod", "Park", 600)
    assert spec["network"] == {"egress": "None"}
    assert spec["template"]["resources"]["limits"]["memory"] == "1Gi"


def test_a_profile() -> None:
    assert apply_defaults(a_profile())["spec"]["sandbox"] == {
        "classRef": {"name": "default"}, "acquire": "Lazy", "allowLocalBash": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    "manifest", [{}, {"kind": "Pod", "spec": None}, {"kind": []}, a_run(limits=[None, 1])]
)
def test_what_does_not_fit_is_left_for_the_checks(manifest: dict[str, Any]) -> None:
    before = copy.deepcopy(manifest)
    apply_defaults(manifest)
    assert manifest == before


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(child) for key, child in value.items() if child is not None}
    return value


@pytest.mark.parametrize("case", [case for case in CASES if not case.faults], ids=lambda case: case.id)
def test_they_are_those_of_the_models(case: Case) -> None:
    model = KINDS[case.manifest["kind"]]
    manifest = without_nulls({**case.manifest, "status": None})
    assert model.read(manifest).wire() == model.read(apply_defaults(manifest)).wire()
