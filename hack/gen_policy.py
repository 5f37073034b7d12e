"""Makes the chart's admission policies from the models, and its list of public addresses; --check only compares.

The policies hold the line between the two writers of an AgentRun's status, whatever RBAC lets through: everybody
but the operator may change the runner's fields alone, and only from the Pod that stands in that run's status.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path
from typing import Any

import yaml

from skerry_api.agentrun import RUNNER_FIELDS, AgentRun, AgentRunStatus
from skerry_api.base import GROUP, VERSION, KubeModel
from skerry_api.sandbox import Sandbox
from skerry_operator.build.public import public_blocks

__all__ = ["generated", "main", "operator_fields", "run_validations", "wire_fields"]

ROOT = Path(__file__).resolve().parents[1]
POLICY = "charts/skerry/templates/admission-policy.yaml"
PUBLIC = "charts/skerry/files/public-addresses.json"
HEAD = "{{- /* Made by hack/gen_policy.py from the models: do not edit. */}}\n{{- if .Values.admissionPolicy.enabled }}\n"
CLAIM = "authentication.kubernetes.io"


def wire_fields(model: type[KubeModel]) -> list[str]:
    """A model's field names as they stand in JSON, in order."""
    return [field.alias or name for name, field in model.model_fields.items()]


def operator_fields(status: type[KubeModel] = AgentRunStatus) -> list[str]:
    """All but the runner's: a field that is new in the model is the operator's until it says otherwise."""
    return [name for name in wire_fields(status) if name not in RUNNER_FIELDS]


def run_validations(status: type[KubeModel] = AgentRunStatus) -> list[dict[str, str]]:
    """CEL rules, in the order in which the API server answers with the first that fails.

    Optionals stand written out: one that went through a policy variable compares as absent (API server 1.37).
    """
    return [
        _from_own_pod("pod-name", "podName"),
        _from_own_pod("pod-uid", "podUID"),
        *(
            {
                "expression": f"object.?status.?{name} == oldObject.?status.?{name}",
                "message": f"status.{name} is written by the operator alone",
            }
            for name in operator_fields(status)
        ),
        *(
            {
                "expression": f"!object.?status.?runner.hasValue() || "
                f"object.?status.?runner.?{name} == oldObject.?status.?{name}",
                "message": f"status.runner.{name} must be that of the current epoch's Pod",
            }
            for name in ("podUID", "epoch")
        ),
    ]


def _from_own_pod(claim: str, field: str) -> dict[str, str]:
    return {
        "expression": f"request.userInfo.extra[?'{CLAIM}/{claim}'].orValue([])"
        f".exists(p, p != '' && p == oldObject.?status.?{field}.orValue(''))",
        "message": f"status may be written only by the operator and by the runner Pod in status.{field}",
    }


def _policy(suffix: str, plural: str, validations: list[dict[str, str]]) -> list[dict[str, Any]]:
    # One name whatever the release is called: two of them would shut each other's operator out of every status,
    # so Helm must refuse the second before it makes anything.
    name = f"skerry-{suffix}"
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name, "labels": "LABELS"},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": [GROUP],
                        "apiVersions": [VERSION],
                        "operations": ["CREATE", "UPDATE"],
                        "resources": [f"{plural}/status"],
                    }
                ]
            },
            "matchConditions": [
                {
                    "name": "not-the-operator",
                    "expression": "request.userInfo.username != "
                    "'system:serviceaccount:{{ .Release.Namespace }}:{{ include \"skerry.serviceAccountName\" . }}'",
                }
            ],
            "validations": validations,
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name, "labels": "LABELS"},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }
    return [policy, binding]


def _policies() -> str:
    only_operator = {"expression": "false", "message": "status is written by the operator alone"}
    objects = [
        *_policy("agentrun-status", AgentRun.PLURAL, run_validations()),
        *_policy("sandbox-status", Sandbox.PLURAL, [only_operator]),
    ]
    text = yaml.safe_dump_all(objects, sort_keys=False, width=10_000, default_flow_style=False)
    return (
        HEAD
        + text.replace("labels: LABELS", 'labels: {{- include "skerry.labels" . | nindent 4 }}')
        + "{{- end }}\n"
    )


def _public() -> str:
    blocks = [f'  {{"cidr": "{cidr}", "except": {_flow(without)}}}' for cidr, without in public_blocks(())]
    return "[\n" + ",\n".join(blocks) + "\n]\n"


def _flow(values: list[str]) -> str:
    return "[" + ", ".join(f'"{value}"' for value in values) + "]"


def generated() -> dict[str, str]:
    """Text of each generated file by its path from the root."""
    return {POLICY: _policies(), PUBLIC: _public()}


def main(arguments: list[str], root: Path = ROOT) -> int:
    """Exit code: 0, or 1 when --check found something stale (its diff is on stderr)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if anything is stale")
    options = parser.parse_args(arguments)
    stale = False
    for name, text in generated().items():
        path = root / name
        there = path.read_text(encoding="utf-8") if path.exists() else ""
        if there == text:
            continue
        stale = True
        if options.check:
            diff = difflib.unified_diff(there.splitlines(True), text.splitlines(True), name, f"{name} (new)")
            sys.stderr.writelines(diff)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"wrote {name}")
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
