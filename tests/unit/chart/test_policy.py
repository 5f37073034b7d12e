"""The admission policy is made from the models: a field that nobody thought of is the operator's."""

from __future__ import annotations

import json
from ipaddress import ip_network
from pathlib import Path

import pytest
import yaml

from gen_policy import POLICY, PUBLIC, generated, main, operator_fields, run_validations, wire_fields
from skerry_api.agentrun import RUNNER_FIELDS, AgentRunStatus
from skerry_operator.build.public import SPECIAL_V4

ROOT = Path(__file__).resolve().parents[3]


class Wider(AgentRunStatus):
    """A status as a later issue may have it."""

    brand_new: str | None = None


def _guards(name: str, status: type[AgentRunStatus] = AgentRunStatus) -> list[str]:
    unchanged = f"object.?status.?{name} == oldObject.?status.?{name}"
    return [rule["message"] for rule in run_validations(status) if rule["expression"] == unchanged]


@pytest.mark.parametrize("name", [n for n in wire_fields(AgentRunStatus) if n not in RUNNER_FIELDS])
def test_each_field_of_the_operator_has_one_rule_that_names_it(name: str) -> None:
    assert _guards(name) == [f"status.{name} is written by the operator alone"]


@pytest.mark.parametrize("name", sorted(RUNNER_FIELDS))
def test_the_runners_fields_are_free(name: str) -> None:
    assert name in wire_fields(AgentRunStatus)
    assert _guards(name) == []


def test_a_new_field_is_guarded_without_anybody_asking() -> None:
    assert operator_fields(Wider) == [*operator_fields(), "brandNew"]
    assert _guards("brandNew", Wider) == ["status.brandNew is written by the operator alone"]


def test_whoever_writes_is_looked_at_first() -> None:
    first, second = run_validations()[:2]
    assert "pod-name" in first["expression"]
    assert "podName" in first["expression"]
    assert "pod-uid" in second["expression"]
    assert "podUID" in second["expression"]


def test_no_optional_goes_through_a_variable() -> None:
    # It would compare as absent, so that every rule held always.
    assert "variables" not in generated()[POLICY]


def test_generated_files_are_up_to_date() -> None:
    for name, text in generated().items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, f"{name}: run make gen"


def test_check_tells_stale_from_fresh_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--check"], tmp_path) == 1
    assert list(tmp_path.iterdir()) == []
    assert "status.phase is written by the operator alone" in capsys.readouterr().err
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0
    (tmp_path / POLICY).write_text("x")
    assert main(["--check"], tmp_path) == 1


def test_braces_are_helm_s_alone_and_the_rest_is_yaml() -> None:
    text = generated()[POLICY]
    lines = [line for line in text.splitlines() if not line.startswith("{{-")]
    plain = "\n".join(lines).replace('{{- include "skerry.labels" . | nindent 4 }}', "{}")
    kinds = [each["kind"] for each in yaml.safe_load_all(plain)]
    assert kinds == ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"] * 2


def test_public_addresses_leave_out_every_special_range() -> None:
    v4, v6 = json.loads(generated()[PUBLIC])
    assert (v4["cidr"], v6["cidr"]) == ("0.0.0.0/0", "2000::/3")
    without = [ip_network(each) for each in v4["except"]]
    for special in map(ip_network, SPECIAL_V4):
        assert any(special.subnet_of(each) for each in without), special  # type: ignore[arg-type]
    assert all(ip_network(each).subnet_of(ip_network("2000::/3")) for each in v6["except"])  # type: ignore[arg-type]
