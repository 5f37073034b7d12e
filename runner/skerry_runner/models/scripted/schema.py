"""The script's format as models. A script is written by people: unknown fields and wrong types are errors."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from skerry_runner.models.scripted.patterns import check

__all__ = [
    "ErrorKind", "Expect", "ExpectTools", "Provider", "Purpose", "Script", "ScriptError", "ScriptInvalidCall",
    "ScriptToolCall", "Step", "StepUsage",
]  # fmt: skip


class _Part(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=False, extra="forbid", frozen=True)


def _json(value: Any) -> Any:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"not a JSON value: {error}") from error
    return value


Pattern = Annotated[str, AfterValidator(check)]
JsonObject = Annotated[dict[str, Any], AfterValidator(_json)]


class Provider(StrEnum):
    """Whose shape of metadata an answer has."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"


class Purpose(StrEnum):
    """Internal calls that a step may answer."""

    TITLE = "title"
    SUMMARY = "summary"
    MEMORY = "memory"


class ErrorKind(StrEnum):
    """Faults below HTTP."""

    TIMEOUT = "timeout"
    CONNECTION = "connection"
    RESET = "reset"


class ExpectTools(_Part):
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


class Expect(_Part):
    """What the request must look like."""

    contains: tuple[Pattern, ...] = ()
    absent: tuple[Pattern, ...] = ()
    tools: ExpectTools = ExpectTools()
    last_role: Literal["system", "human", "ai", "tool"] | None = None


class ScriptToolCall(_Part):
    name: str
    args: JsonObject = Field(default_factory=dict)
    id: str | None = None


class ScriptInvalidCall(_Part):
    """A call whose arguments are no JSON, as models that were cut off make them."""

    name: str
    args: str = ""
    id: str | None = None
    error: str | None = None


class StepUsage(_Part):
    input: int = Field(ge=0)
    output: int = Field(ge=0)


class ScriptError(_Part):
    """Raised instead of an answer: an HTTP error with `status`, or a `kind` below it."""

    status: int | None = Field(default=None, ge=400, le=599)
    kind: ErrorKind | None = None
    code: str | None = None
    message: str | None = None
    retry_after_seconds: float | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _one(self) -> ScriptError:
        if (self.status is None) == (self.kind is None):
            raise ValueError("exactly one of status and kind is required")
        return self


class Step(_Part):
    """One answer of the model, or one error."""

    expect: Expect = Expect()
    agent: str | None = Field(default=None, min_length=1)
    task: Pattern | None = None
    purpose: Purpose | None = None
    say: str | list[str | JsonObject] = ""
    thinking: str | None = None
    tool_calls: tuple[ScriptToolCall, ...] = ()
    invalid_tool_calls: tuple[ScriptInvalidCall, ...] = ()
    usage: StepUsage | None = None
    finish_reason: str | None = None
    provider: Provider = Provider.OPENAI
    metadata: JsonObject = Field(default_factory=dict)
    delay_seconds: float = Field(default=0, ge=0, le=86_400)
    error: ScriptError | None = None

    @model_validator(mode="after")
    def _fits(self) -> Step:
        answer = {
            "say",
            "thinking",
            "tool_calls",
            "invalid_tool_calls",
            "usage",
            "finish_reason",
            "metadata",
            "provider",
        }
        if self.error is not None and (both := sorted(answer & self.model_fields_set)):
            raise ValueError(
                f"an error step has no answer: remove {', '.join(to_camel(name) for name in both)}"
            )
        if self.agent is not None and self.purpose is not None:
            raise ValueError("agent and purpose exclude each other")
        if self.task is not None and self.agent is None:
            raise ValueError("task narrows agent, and there is none")
        return self


class Script(_Part):
    """`strict`: steps that are left over at the end are a mismatch."""

    steps: tuple[Step, ...]
    strict: bool = False
