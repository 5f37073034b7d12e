"""The schemas of all kinds keep to what a CustomResourceDefinition may say, and say enough."""

from __future__ import annotations

from typing import ClassVar, Literal

import pytest
from pydantic import Field

from skerry_api.base import IMMUTABLE, MUTABLE, KubeModel, KubeObject
from skerry_api.kinds import KINDS
from skerry_api.structural import Schema, SchemaError, rendered, structural
from skerry_testing.schemas import walk

ALLOWED = {
    "description", "type", "format", "enum", "default", "minLength", "maxLength", "pattern", "minimum", "maximum",
    "minItems", "maxItems", "maxProperties", "x-kubernetes-list-type", "x-kubernetes-list-map-keys",
    "x-kubernetes-validations", "required", "properties", "additionalProperties", "items",
}  # fmt: skip
NODES = [
    pytest.param(path, node, id=f"{kind}:{path}")
    for kind, model in KINDS.items()
    for path, node in walk(rendered(structural(model)))
]
IMPLICIT = {"apiVersion", "kind", "metadata", "metadata.name"}
"""The API server has its own texts and bounds for these, and allows ours none."""


@pytest.mark.parametrize(("path", "node"), NODES)
def test_nothing_but_what_a_structural_schema_may_hold(path: str, node: Schema) -> None:
    assert node.keys() <= ALLOWED
    assert isinstance(node["type"], str)
    assert not ("properties" in node and "additionalProperties" in node)
    assert node.get("default", "given") is not None
    assert isinstance(node.get("additionalProperties", {}), dict)


@pytest.mark.parametrize(("path", "node"), NODES)
def test_everything_is_bounded(path: str, node: Schema) -> None:
    if path in IMPLICIT:
        return
    match node["type"]:
        case "string":
            assert "enum" in node or "maxLength" in node or node.get("format") == "date-time"
        case "array":
            assert "maxItems" in node
        case "object":
            assert "properties" in node or "maxProperties" in node
        case "integer":
            assert "minimum" in node
            assert node["format"] == "int64"
        case other:
            assert other == "boolean"


@pytest.mark.parametrize(("path", "node"), NODES)
def test_everything_is_described(path: str, node: Schema) -> None:
    if path not in {"metadata", "metadata.name"} and not path.endswith(("[]", ".*")):
        assert len(node["description"]) >= 6
        assert node["description"].endswith(".")


@pytest.mark.parametrize(("path", "node"), NODES)
def test_status_has_no_defaults(path: str, node: Schema) -> None:
    assert not (path.startswith("status") and "default" in node)


@pytest.mark.parametrize(("path", "node"), NODES)
def test_enums_of_ours_are_camel_case(path: str, node: Schema) -> None:
    if not path.endswith(("tools.enabled[]", ".tools[]")):  # Names of tools are the agent's words.
        assert all(value[0].isupper() and "_" not in value for value in node.get("enum", ()))


class Inner(KubeModel):
    """What stands below."""

    fixed: str = Field(default="x", max_length=5, description="Own default.")
    other: str | None = Field(default=None, max_length=5, description="No default.")
    needed: str = Field(max_length=5, description="Required.")


class ToySpec(KubeModel):
    inner: Inner = Field(default=Inner(needed="y", other="z"), description="With a default.")
    empty: tuple[str, ...] = Field(default=(), max_length=1, description="Empty.")
    note: str = Field(default="", max_length=1, json_schema_extra={MUTABLE: True}, description="May change.")

    model_config = KubeModel.model_config | {"json_schema_extra": {IMMUTABLE: "fields"}}


class Toy(KubeObject):
    """A kind for this test."""

    KIND: ClassVar[str] = "Toy"
    PLURAL: ClassVar[str] = "toys"
    kind: Literal["Toy"] = "Toy"
    spec: ToySpec = Field(description="Its spec.")


def spec_of(model: type[KubeObject]) -> Schema:
    spec: Schema = rendered(structural(model))["properties"]["spec"]
    return spec


def test_a_default_object_is_split_over_its_fields() -> None:
    inner = spec_of(Toy)["properties"]["inner"]
    assert inner["default"] == {"needed": "y", "other": "z"}
    assert inner["properties"]["fixed"]["default"] == "x"


def test_a_default_that_says_nothing_is_left_out() -> None:
    assert "default" not in spec_of(Toy)["properties"]["empty"]
    assert "default" not in spec_of(Toy)["properties"]["note"]


def test_a_default_list_holds_no_nulls() -> None:
    class ManySpec(KubeModel):
        many: tuple[Inner, ...] = Field(default=(Inner(needed="n"),), max_length=1, description="With one.")

    class Many(Toy):
        spec: ManySpec = Field(description="Its spec.")  # type: ignore[assignment]  # another kind's

    assert spec_of(Many)["properties"]["many"]["default"] == [{"fixed": "x", "needed": "n"}]


def test_optional_means_absent_not_null() -> None:
    other = spec_of(Toy)["properties"]["inner"]["properties"]["other"]
    assert other == {"description": "No default.", "type": "string", "maxLength": 5}


def test_only_fields_without_the_marker_are_immutable() -> None:
    rules = spec_of(Toy)["x-kubernetes-validations"]
    assert [rule["fieldPath"] for rule in rules] == [".inner", ".empty"]
    assert "x-skerry" not in str(spec_of(Toy))


class UnionSpec(KubeModel):
    either: int | str = Field(description="What no structural schema can say.")


class FloatSpec(KubeModel):
    ratio: float = Field(gt=0, description="An exclusive bound.")


@pytest.mark.parametrize("spec_type", [UnionSpec, FloatSpec])
def test_what_a_structural_schema_cannot_say_is_refused(spec_type: type[KubeModel]) -> None:
    class Odd(KubeObject):
        KIND: ClassVar[str] = "Odd"
        PLURAL: ClassVar[str] = "odds"
        kind: Literal["Odd"] = "Odd"
        spec: spec_type = Field(description="Its spec.")  # type: ignore[valid-type]  # one class per parameter

    with pytest.raises(SchemaError, match=r"Odd\.spec"):
        structural(Odd)
