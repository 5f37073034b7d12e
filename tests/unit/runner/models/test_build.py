"""Any model by name: parameters, key, endpoint, and what its errors become; against a stub on loopback."""

from __future__ import annotations

from typing import Any, cast

import pytest

from openai_stub import Reply, Stub
from skerry_api.document import DocumentModel
from skerry_api.phases import OutcomeClass
from skerry_runner.models.build import build_model, endpoint_of, provider_of
from skerry_runner.models.parameters import ALLOWED, model_parameters
from skerry_runner.outcome import InvalidDocument, RunEnded
from skerry_testing.runnerworld import RunnerWorld, document

KEY = "sk-test-0123456789"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.2", 0.2),
        ("5", 5),
        ("true", True),
        ("null", None),
        ('["a"]', ["a"]),
        ("high", "high"),
        ('"5"', "5"),
        ("", ""),
    ],
)
def test_values_are_json_where_they_can_be(text: str, value: object) -> None:
    assert model_parameters({"temperature": text}) == {"temperature": value}


@pytest.mark.parametrize(
    "name",
    [
        "base_url", "openai_api_base", "api_key", "openai_api_key", "openai_proxy", "default_headers", "default_query",
        "http_client", "http_async_client", "azure_endpoint", "model", "model_provider", "configurable_fields",
        "model_kwargs", "client_options", "transport", "anthropic_api_url", "endpoint_url",
    ],
)  # fmt: skip
def test_a_parameter_can_not_redirect_the_key(name: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        model_parameters({"temperature": "1", name: "http://evil"})
    assert caught.value.outcome.reason == "InvalidParameter"
    assert caught.value.outcome.message.startswith(f"model.parameters.{name}: not allowed")
    assert name not in ALLOWED


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("openai:x", "openai"),
        ("gpt-5", "openai"),
        ("claude-x", "anthropic"),
        ("mistral-x", "mistralai"),
        ("openai:claude-x", "openai"),
        ("nobody-knows-this", None),
        ("acme:gpt-5", None),
    ],
)
def test_a_name_comes_to_a_provider(name: str, provider: str | None) -> None:
    assert provider_of(name) == provider


def test_a_name_without_a_provider_gets_its_provider_s_settings() -> None:
    named, guessed = (
        build_model(DocumentModel(name=name), run="r", api_key=KEY).model
        for name in ("openai:gpt-x", "gpt-x")
    )
    assert type(guessed) is type(named)
    assert cast("Any", guessed).max_retries == cast("Any", named).max_retries == 0


def test_endpoints_are_named_without_credentials() -> None:
    assert endpoint_of(DocumentModel(name="openai:x", base_url="http://u:p@h/v1?k=1")) == "http://h/v1"
    assert endpoint_of(DocumentModel(name="openai:x")) == "openai"
    assert endpoint_of(DocumentModel(name="scripted")) == "scripted"


@pytest.mark.parametrize(
    ("name", "reason", "message"),
    [
        (
            "nobody-knows-this",
            "UnknownModel",
            "spec.model.name: nobody-knows-this: must be scripted or provider:model",
        ),
        ("acme:model", "UnknownModel", "spec.model.name: acme:model: must be scripted or provider:model"),
        (
            "anthropic:claude",
            "UnknownModel",
            (
                "spec.model.name: anthropic:claude: this runner lacks the package for anthropic: "
                "install the extra skerry[anthropic]"
            ),
        ),
        (
            "google_genai:gemini",
            "UnknownModel",
            (
                "spec.model.name: google_genai:gemini: this runner lacks the package for "
                "google_genai: install the extra skerry[google]"
            ),
        ),
    ],
)
def test_a_name_that_means_nothing_here(name: str, reason: str, message: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        build_model(DocumentModel(name=name), run="r", api_key=KEY)
    assert (caught.value.outcome.reason, caught.value.outcome.message.startswith(message)) == (reason, True)


def test_a_provider_without_a_key_is_a_model_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(RunEnded) as caught:
        build_model(DocumentModel(name="openai:gpt-x"), run="r", api_key=None)
    assert (caught.value.outcome.class_, caught.value.outcome.endpoint) == (
        OutcomeClass.MODEL_ERROR,
        "openai",
    )
    assert (caught.value.outcome.reason, "spec.model.apiKeySecretRef" in caught.value.outcome.message) == (
        "AuthenticationFailed",
        True,
    )


def test_a_scripted_model_needs_a_script() -> None:
    with pytest.raises(InvalidDocument) as caught:
        build_model(DocumentModel(name="scripted", script_source="spec.model.script"), run="r", api_key=None)
    assert caught.value.outcome.message == "spec.model.script: the model `scripted` needs a script"


async def test_a_run_with_a_real_client(world: RunnerWorld) -> None:
    replies = [Reply(tool_calls=(("bash", {"command": "echo hi"}),)), Reply("it said hi")]
    async with Stub(replies) as stub:
        spec = document(
            None, model="openai:stub", base_url=stub.url, parameters={"temperature": "0.5", "seed": "7"}
        )
        result = await world.run(spec, api_key=KEY)
    assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "it said hi")
    assert result.usage.total == result.usage.input + result.usage.output > 5
    first = stub.requests[0]
    assert stub.keys == [KEY, KEY]
    assert (first["temperature"], first["seed"], first["model"]) == (0.5, 7, "stub")
    assert {tool["function"]["name"] for tool in first["tools"]} >= {
        "bash",
        "ls",
        "read_file",
        "write_file",
    }
    assert [c.command for c in world.provider.sandbox.commands] == ["echo hi"]
    assert [e["finishReason"] for e in world.sink.events("model.response")] == ["tool_calls", "stop"]


async def test_without_a_key_none_is_taken_from_the_environment(
    world: RunnerWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-somebody-elses")
    async with Stub([Reply("ok")]) as stub:
        await world.run(document(None, model="openai:stub", base_url=stub.url))
    assert stub.keys == ["none"]


@pytest.mark.parametrize(("status", "reason"), [(401, "Authentication"), (429, "RateLimit"), (500, "")])
async def test_an_error_of_the_endpoint_is_the_outcome(status: int, reason: str) -> None:
    reply = Reply(status=status, error=f"bad key {KEY}", code="y", times=9)
    async with RunnerWorld(secrets=[KEY]) as world, Stub([reply]) as stub:
        url = stub.url.replace("http://", "http://user:pass@")
        spec = document(None, model="openai:stub", base_url=url, parameters={"max_retries": "0"})
        result = await world.run(spec, api_key=KEY)
        error = world.sink.events("model.error")[-1]
    outcome = result.outcome
    assert (outcome.class_, outcome.endpoint) == (OutcomeClass.MODEL_ERROR, stub.url)
    assert reason in outcome.reason
    assert KEY not in outcome.message + error["message"]
    assert "***" in outcome.message


async def test_an_endpoint_that_is_not_there(world: RunnerWorld) -> None:
    async with Stub([Reply("ok")]) as stub:
        url = stub.url
    spec = document(None, model="openai:stub", base_url=url, parameters={"max_retries": "0"})
    result = await world.run(spec, api_key=KEY)
    assert (result.outcome.class_, result.outcome.endpoint) == (OutcomeClass.MODEL_ERROR, url)
    assert "Connection" in result.outcome.reason
    assert [e["type"] for e in world.sink.events()][-3:] == ["model.error", "title", "run.end"]


async def test_the_answer_s_message_is_named_as_its_line_in_the_journal(world: RunnerWorld) -> None:
    async with Stub([Reply("the answer")]) as stub:
        result = await world.run(document(None, model="openai:stub", base_url=stub.url), api_key=KEY)
    assert result.answer == "the answer", result.outcome
    (line,) = [event for event in world.sink.events("model.response") if event["id"] == result.answer_id]
    assert line["text"] == "the answer"
