"""Offline validation: the same table that the integration tests send to the real API server."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import pytest

from skerry_api.problems import Problem
from skerry_api.strict import check
from skerry_testing.junk import junk, mangled
from skerry_testing.manifests import CASES, Case, a_profile, a_run, a_sandbox
from skerry_testing.schemas import all_rules


def test_the_table_is_large_and_its_names_are_unique() -> None:
    assert len({case.id for case in CASES}) == len(CASES) >= 100
    assert sum(not case.faults for case in CASES) >= 25


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_faults_are_named_by_their_paths(case: Case) -> None:
    before = copy.deepcopy(case.manifest)
    assert {problem.path for problem in check(case.manifest)} == case.faults
    assert case.manifest == before


def test_every_rule_on_creation_is_broken_by_some_case() -> None:
    broken = {problem.message for case in CASES for problem in check(case.manifest)}
    assert {rule.message for rule in all_rules() if not rule.transition} <= broken


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (None, Problem("", "must be an object with apiVersion, kind, metadata and spec")),
        ([a_run()], Problem("", "must be an object with apiVersion, kind, metadata and spec")),
        ({**a_run(), "kind": "Pod"}, Problem("kind", "must be one of AgentRun, AgentProfile, Sandbox, SandboxClass")),
        ({**a_run(), "kind": ["AgentRun"]}, Problem("kind", "must be one of AgentRun, AgentProfile, Sandbox, SandboxClass")),
        ({**a_run(), "apiVersion": "skerry.dev/v1"}, Problem("apiVersion", "must be skerry.dev/v1alpha1")),
        ({**a_run(), "metadata": "a"}, Problem("metadata", "must be an object")),
        ({**a_run(), "metadata": {"name": 5}}, Problem("metadata.name", "must be a string")),
        (a_run(retries="2"), Problem("spec.retries", "must be an integer, not a string")),
        (a_run(profileRef="p"), Problem("spec.profileRef", "must be an object, not a string")),
        (a_run(retries=9), Problem("spec.retries", "must be from 0 to 5")),
        (a_run(sandbox={"acquire": "x"}), Problem("spec.sandbox.acquire", "must be one of Lazy, Eager")),
        (a_run(profileRef=...), Problem("spec.profileRef", "is required")),
    ],
)  # fmt: skip
def test_messages(raw: Any, problem: Problem) -> None:
    assert check(raw) == [problem]


def test_rules_of_a_cluster_bind_no_laptop() -> None:
    kept_nowhere = a_profile(pipeline={"memory": {"enabled": True, "flush": "Debounced"}})
    assert {problem.path for problem in check(kept_nowhere)} == {
        "spec.pipeline.memory.enabled", "spec.pipeline.memory.flush",
    }  # fmt: skip
    assert check(kept_nowhere, local=True) == []
    other = a_profile(pipeline={"memory": {"enabled": True}}, persistence={"type": "Postgres"})
    assert [problem.path for problem in check(other, local=True)] == ["spec.persistence.postgres"]


def test_all_problems_are_found_at_once() -> None:
    manifest = a_run(name="A", retries=9, promt="x", profileRef=...)
    assert {problem.path for problem in check(manifest)} == {
        "metadata.name", "spec.retries", "spec.promt", "spec.profileRef",
    }  # fmt: skip


def test_a_change_is_held_against_the_object_as_it_was() -> None:
    old = {**a_run(), "status": {"phase": "Succeeded"}}
    assert check(a_run(cancel=True, ttlSecondsAfterFinished=5), old) == []
    assert check(a_run(prompt="other"), old) == [
        Problem("spec.prompt", "prompt can't be changed after creation")
    ]
    assert check(a_sandbox(threadId="u"), a_sandbox()) == [Problem("spec", "can't be changed after creation")]


@pytest.mark.parametrize("seed", range(300))
def test_no_input_makes_it_raise(seed: int) -> None:
    manifest = mangled(seed)
    before = copy.deepcopy(manifest)
    assert all(problem.message for problem in check(manifest))
    assert manifest == before
    check(junk(Random(seed)))


def test_half_a_surrogate_pair_is_a_problem_of_its_field() -> None:
    assert [problem.path for problem in check(a_run(prompt="\ud800 x"))] == ["spec.prompt"]
