"""The CRDs as the API server serves them: columns, field selectors, explanations."""

from __future__ import annotations

from skerry_api.kinds import KINDS
from skerry_testing.apiserver import ApiServer


def a_run(name: str = "r", **spec: object) -> dict[str, object]:
    return {
        "apiVersion": "skerry.dev/v1alpha1",
        "kind": "AgentRun",
        "metadata": {"name": name},
        "spec": {"profileRef": {"name": "p"}, "prompt": "hello", **spec},
    }


async def test_every_kind_is_accepted_by_the_server(api: ApiServer) -> None:
    for model in KINDS.values():
        crd = await api.get("CustomResourceDefinition", f"{model.PLURAL}.skerry.dev")
        states = {each["type"]: each["status"] for each in crd["status"]["conditions"]}
        assert states["Established"] == "True"
        assert states.get("NonStructuralSchema", "False") == "False"


async def test_defaults(api: ApiServer) -> None:
    run = await api.create(a_run())
    assert run["spec"]["limits"]["maxTurns"] == 100
