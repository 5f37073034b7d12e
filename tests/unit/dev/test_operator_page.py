"""docs/reference/operator.md says what the operator's code and its chart do."""

from __future__ import annotations

import re

from images.specs import ROOT
from skerry_api.phases import RunPhase
from skerry_operator.plan.events import EventReason

PAGE = (ROOT / "docs/reference/operator.md").read_text(encoding="utf-8")
ROLES = (ROOT / "charts/skerry/templates/run-namespaces.yaml").read_text(encoding="utf-8")


def test_the_events_are_the_closed_list() -> None:
    table = PAGE.partition("## Events")[2].partition("## Logs")[0]
    told = re.findall(r"^\| (?:AgentRun|Sandbox) \| (.+) \|$", table, re.MULTILINE)
    assert [reason for line in told for reason in line.split(", ")] == [str(each) for each in EventReason]


def test_every_right_of_the_chart_is_told() -> None:
    rights = PAGE.partition("## Rights")[2]
    (row,) = re.findall(r"^\| each of `runNamespaces` \| (.+) \|$", rights, re.MULTILINE)
    operator = ROLES.partition("-operator\n")[2].partition("kind: RoleBinding")[0]
    rules = re.findall(r"resources: \[([^\]]+)\]\n\s+verbs: \[([^\]]+)\]", operator)
    assert len(rules) > 5
    for resources, verbs in rules:
        for resource in resources.split(", "):
            kind = resource.partition("/")[2] or resource
            clauses = [clause for clause in row.split("; ") if kind in clause]
            assert clauses, resource
            for verb in verbs.split(", "):
                assert any(verb in clause for clause in clauses), (resource, verb)


def test_the_architecture_names_every_phase() -> None:
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8").partition("## Phases")[2]
    assert [str(phase) for phase in RunPhase if str(phase) not in text] == []
