"""The guardrail of a profile: who decides whether this call of a tool, with these arguments, is made now."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from skerry_api.base import KubeModel, validations
from skerry_api.common import SecretKeyRef
from skerry_api.paths import DottedPath

__all__ = ["GUARDRAIL_HEADERS_ENV", "Guardrail", "GuardrailAction", "GuardrailHttp", "GuardrailRule"]

GUARDRAIL_HEADERS_ENV = "SKERRY_GUARDRAIL_HEADERS"
"""Environment variable of the runner container that holds the headers for the policy endpoint."""

_ToolPattern = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9_.*?-]+$")]
_Argument = Annotated[str, StringConstraints(min_length=1, max_length=128)]
_Pattern = Annotated[str, StringConstraints(min_length=1, max_length=1024)]
_Host = Annotated[
    str,
    StringConstraints(
        min_length=1,
        max_length=253,
        pattern=r"^(\*|(\*\.)?[A-Za-z0-9_][A-Za-z0-9_.-]*|\[?[0-9A-Fa-f:.]+\]?(/[0-9]{1,3})?)$",
    ),
]


class GuardrailAction(StrEnum):
    """What a rule that fits says."""

    DENY = "Deny"
    ALLOW = "Allow"


class GuardrailRule(KubeModel):
    """A rule on one argument of a tool: exactly one of glob, regex and hosts says which values it fits."""

    tool: _ToolPattern = Field(description="Name of the tool; `*` and `?` are wildcards.")
    argument: _Argument = Field(
        description="Name of the argument; dots lead into objects, of a list every item counts."
    )
    glob: _Pattern | None = Field(
        default=None,
        description="Pattern for paths, which are made absolute and free of `..` first: `*` within a folder, `**` "
        "across folders. It fits what it names and all below; without a slash it fits names anywhere.",
    )
    regex: _Pattern | None = Field(
        default=None, description="Regular expression of Python, found anywhere in the value."
    )
    hosts: tuple[_Host, ...] = Field(
        default=(),
        max_length=256,
        json_schema_extra={"x-kubernetes-list-type": "set"},
        description="Hosts of the URLs in the value: names, `*.example.com` for all below one, addresses, CIDRs, or `*`.",
    )
    action: GuardrailAction = Field(
        default=GuardrailAction.DENY,
        description="Deny: a call that fits is denied. Allow: it is allowed, and calls of the tool that no rule allows are denied.",
    )
    reason: str = Field(default="", max_length=256, description="What the agent is told.")

    model_config = KubeModel.model_config | {"json_schema_extra": validations("one-guardrail-test")}


class GuardrailHttp(KubeModel):
    """An endpoint in the form of OPA's data API: POST {"input": …}, answered by {"result": true} or {"result": {"allow": …}}."""

    url: str = Field(
        min_length=1,
        max_length=2048,
        pattern=r"^https?://[^\s/?#]+",
        description="Address of the decision, such as `http://opa.policies:8181/v1/data/skerry/allow`. In a cluster it "
        "must be reachable for runner Pods: `runner.network.allow`.",
    )
    timeout_seconds: int = Field(
        default=5, ge=1, le=60, description="How long to wait for a decision, in seconds."
    )
    headers_secret_ref: SecretKeyRef | None = Field(
        default=None,
        description="Secret key that holds request headers, one `Name: value` a line. They reach the runner Pod alone.",
    )


class Guardrail(KubeModel):
    """All that is set here must allow a call; what denies first is told to the agent."""

    allow: tuple[_ToolPattern, ...] | None = Field(
        default=None,
        max_length=256,
        json_schema_extra={"x-kubernetes-list-type": "set"},
        description="Tools that may be called; all if absent, none if empty.",
    )
    deny: tuple[_ToolPattern, ...] = Field(
        default=(),
        max_length=256,
        json_schema_extra={"x-kubernetes-list-type": "set"},
        description="Tools that may not be called, even if allowed.",
    )
    rules: tuple[GuardrailRule, ...] = Field(
        default=(), max_length=128, description="Rules on arguments; the first that fits a call decides."
    )
    http: GuardrailHttp | None = Field(default=None, description="A policy endpoint to ask.")
    path: DottedPath | None = Field(
        default=None,
        description="A class of the user's own, which the runner image holds, as `package.module:Class`.",
    )
    fail_closed: bool = Field(
        default=True, description="Whether a call is denied when no decision can be had."
    )

    model_config = KubeModel.model_config | {"json_schema_extra": validations("some-guardrail")}
