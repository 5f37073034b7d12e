"""The CRDs as the API server serves them: names, columns, field selectors, explanations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from skerry_api.kinds import KINDS
from skerry_gen.columns import COLUMNS, SELECTABLE
from skerry_testing.apiserver import ApiServer, Json
from skerry_testing.controlplane import ROOT
from skerry_testing.full import OPERATOR_STATUS, RUNNER_STATUS
from skerry_testing.manifests import a_profile, a_run
from skerry_testing.resources import resource_of

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


async def table_of(api: ApiServer, kind: str) -> Json:
    answer = await api.http.get(resource_of(kind).path(api.namespace), headers={"Accept": TABLE})
    table: Json = answer.raise_for_status().json()
    return table


@pytest.mark.parametrize("kind", KINDS)
async def test_every_kind_is_established_and_structural(api: ApiServer, kind: str) -> None:
    crd = await api.get("CustomResourceDefinition", f"{KINDS[kind].PLURAL}.skerry.dev")
    states = {each["type"]: each["status"] for each in crd["status"]["conditions"]}
    assert (states["Established"], states["NamesAccepted"]) == ("True", "True")
    assert states.get("NonStructuralSchema", "False") == "False"


async def test_names_and_verbs(api: ApiServer) -> None:
    found = (await api.http.get("/apis/skerry.dev/v1alpha1")).json()["resources"]
    kinds = {each["name"]: each for each in found if "/" not in each["name"]}
    assert {each["kind"] for each in kinds.values()} == KINDS.keys()
    assert {tuple(each["shortNames"]) for each in kinds.values()} == {("ar",), ("ap",), ("sbx",), ("sbxc",)}
    assert all(each["namespaced"] and each["categories"] == ["skerry"] for each in kinds.values())
    assert {each["name"] for each in found if "/" in each["name"]} == {"agentruns/status", "sandboxes/status"}


@pytest.mark.parametrize("kind", KINDS)
async def test_columns(api: ApiServer, kind: str) -> None:
    columns = (await table_of(api, kind))["columnDefinitions"]
    shown = [(each["name"], bool(each["priority"])) for each in columns]
    assert shown == [("Name", False), *((column.name, column.wide) for column in COLUMNS[kind])]


async def test_a_run_in_a_row(api: ApiServer) -> None:
    await api.create(a_run())
    await api.apply_status("AgentRun", "a", OPERATOR_STATUS, "skerry-operator")
    await api.apply_status("AgentRun", "a", RUNNER_STATUS, "skerry-runner")
    (row,) = (await table_of(api, "AgentRun"))["rows"]
    name, phase, reason, sandbox, _age, *wide = row["cells"]
    assert (name, phase, reason, sandbox) == ("a", "Running", "Running", "sbx-1")
    assert wide == ["p", "A look", 1, 3, "n1"]


async def test_field_selectors(api: ApiServer) -> None:
    for name, profile in (("one", "p"), ("two", "q"), ("three", "q")):
        await api.create(a_run(name=name, profileRef={"name": profile}))
    await api.apply_status("AgentRun", "two", {"phase": "Running"}, "skerry-operator")
    assert SELECTABLE["AgentRun"]
    by_profile = await api.list("AgentRun", fields="spec.profileRef.name=q")
    assert {run["metadata"]["name"] for run in by_profile} == {"two", "three"}
    running = await api.list("AgentRun", fields="status.phase=Running,spec.userId=default")
    assert [run["metadata"]["name"] for run in running] == ["two"]


def undescribed(schema: Json, path: str) -> Iterator[str]:
    for name, child in schema.get("properties", {}).items():
        where = f"{path}.{name}"
        described = child.get("description") or any(
            each.get("description") for each in child.get("allOf", ())
        )
        if not described:
            yield where
        yield from undescribed(child, where)
        yield from undescribed(child.get("items", {}), f"{where}[]")


async def test_explain_has_words_for_everything(api: ApiServer) -> None:
    """`kubectl explain` reads this document."""
    document: dict[str, Any] = (await api.http.get("/openapi/v3/apis/skerry.dev/v1alpha1")).json()
    schemas = document["components"]["schemas"]
    for kind in KINDS:
        schema = schemas[f"dev.skerry.v1alpha1.{kind}"]
        assert schema["description"]
        assert list(undescribed(schema, kind)) == []


async def test_the_chart_and_the_plain_files_define_the_same(api: ApiServer) -> None:
    for path in sorted((ROOT / "crds").glob("*.yaml")):
        plain = yaml.safe_load(path.read_text(encoding="utf-8"))
        chart = yaml.safe_load(
            (ROOT / "charts/skerry-crds/templates" / path.name).read_text(encoding="utf-8")
        )
        assert chart["metadata"].pop("annotations") == {"helm.sh/resource-policy": "keep"}
        assert chart == plain
        live = await api.get("CustomResourceDefinition", plain["metadata"]["name"])
        assert live["spec"]["versions"][0]["schema"] == plain["spec"]["versions"][0]["schema"]


async def test_profiles_and_classes_have_no_status(api: ApiServer) -> None:
    stored = await api.create({**a_profile(), "status": {"phase": "x"}}, validation="Ignore")
    assert "status" not in stored
