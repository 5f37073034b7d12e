"""What RBAC lets the operator's and the runners' ServiceAccounts do, asked of the real authorizer."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_testing.apiserver import ApiServer

Json = dict[str, Any]
RUNS, SYSTEM, ELSEWHERE = "agents", "skerry-system", "default"
OPERATOR = "system:serviceaccount:skerry-system:skerry-operator"
RUNNER = "system:serviceaccount:agents:skerry-runner"
LEASE = ":skerry-operator"
"""After a resource stands the name of the one object that is meant."""
OURS = ("agentruns", "sandboxes", "sandboxclasses", "agentprofiles")

ALLOWED = {
    *(
        (OPERATOR, verb, f"skerry.dev/{kind}", ELSEWHERE)
        for kind in OURS
        for verb in ("get", "list", "watch")
    ),
    *((OPERATOR, "patch", f"skerry.dev/{kind}/status", ELSEWHERE) for kind in ("agentruns", "sandboxes")),
    *((OPERATOR, verb, "pods", ELSEWHERE) for verb in ("get", "list", "watch")),
    (OPERATOR, "get", "nodes", ""),
    *((OPERATOR, verb, "pods", RUNS) for verb in ("create", "delete")),
    *((OPERATOR, verb, "skerry.dev/sandboxes", RUNS) for verb in ("create", "delete")),
    (OPERATOR, "delete", "skerry.dev/agentruns", RUNS),
    *((OPERATOR, verb, "networking.k8s.io/networkpolicies", RUNS) for verb in ("get", "create", "patch")),
    (OPERATOR, "get", "configmaps", RUNS),
    *(
        (OPERATOR, verb, "persistentvolumeclaims", RUNS)
        for verb in ("get", "list", "create", "patch", "delete")
    ),
    *((OPERATOR, "update", f"skerry.dev/{kind}/finalizers", RUNS) for kind in OURS),
    *((OPERATOR, verb, "events", RUNS) for verb in ("create", "patch")),
    *(
        (OPERATOR, verb, f"coordination.k8s.io/leases{LEASE if verb != 'create' else ''}", SYSTEM)
        for verb in ("create", "get", "update")
    ),
    *((RUNNER, verb, "skerry.dev/agentruns", RUNS) for verb in ("get", "list", "watch")),
    (RUNNER, "patch", "skerry.dev/agentruns/status", RUNS),
}
REFUSED = {
    *(
        (who, verb, "secrets", RUNS)
        for who in (OPERATOR, RUNNER)
        for verb in ("get", "list", "watch", "create")
    ),
    *((OPERATOR, verb, "secrets", SYSTEM) for verb in ("get", "list")),
    *((OPERATOR, verb, "pods", ELSEWHERE) for verb in ("create", "delete", "patch")),
    *((OPERATOR, verb, "skerry.dev/agentruns", RUNS) for verb in ("create", "update", "patch")),
    (OPERATOR, "delete", "skerry.dev/agentruns", ELSEWHERE),
    *((OPERATOR, verb, "networking.k8s.io/networkpolicies", RUNS) for verb in ("delete", "update")),
    (OPERATOR, "get", "configmaps", ELSEWHERE),
    *((OPERATOR, verb, "persistentvolumeclaims", ELSEWHERE) for verb in ("get", "list", "create", "delete")),
    (OPERATOR, "update", "persistentvolumeclaims", RUNS),
    (OPERATOR, "update", "coordination.k8s.io/leases:another", SYSTEM),
    (OPERATOR, "create", "pods/exec", RUNS),
    *((RUNNER, verb, "pods", RUNS) for verb in ("get", "list", "create", "delete")),
    *((RUNNER, verb, "skerry.dev/agentruns", RUNS) for verb in ("create", "update", "patch", "delete")),
    (RUNNER, "update", "skerry.dev/agentruns/status", RUNS),
    *((RUNNER, verb, "skerry.dev/sandboxes", RUNS) for verb in ("get", "patch", "delete")),
    (RUNNER, "patch", "skerry.dev/sandboxes/status", RUNS),
    *((RUNNER, verb, "skerry.dev/agentruns", ELSEWHERE) for verb in ("get", "list")),
    (RUNNER, "patch", "skerry.dev/agentruns/status", ELSEWHERE),
}


async def _may(admin: ApiServer, who: str, verb: str, resource: str, namespace: str) -> bool:
    resource, _, named = resource.partition(":")
    first, *rest = resource.split("/")
    group, (name, *sub) = (first, rest) if "." in first else ("", [first, *rest])
    attributes = {
        "verb": verb, "group": group, "resource": name, "subresource": "".join(sub), "namespace": namespace,
        "name": named,
    }  # fmt: skip
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": who, "resourceAttributes": attributes},
    }
    answer = await admin.http.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", json=body)
    return bool(answer.raise_for_status().json()["status"]["allowed"])


@pytest.mark.parametrize(("allowed", "table"), [(True, ALLOWED), (False, REFUSED)])
async def test_the_table_of_rights_holds(
    admin: ApiServer, allowed: bool, table: set[tuple[str, ...]]
) -> None:
    wrong = [row for row in sorted(table) if await _may(admin, *row) is not allowed]
    assert wrong == []
