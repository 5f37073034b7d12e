"""The chat model that a document names."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.language_models.chat_models import BaseChatModel

from skerry_api.document import DocumentModel, RunDocument
from skerry_api.phases import ModelErrorReason
from skerry_runner.models.parameters import model_parameters
from skerry_runner.models.scripted.model import ScriptedModel
from skerry_runner.models.scripted.parse import parse_script
from skerry_runner.models.scripted.playhead import Playhead
from skerry_runner.outcome import InvalidDocument, RunEnded, model_error, model_failed, public_endpoint

__all__ = ["SCRIPTED", "BuiltModel", "build_model", "build_title_model", "endpoint_of", "provider_of"]

log = logging.getLogger(__name__)
SCRIPTED = "scripted"
_OWN_RETRIES_OFF: dict[str, dict[str, Any]] = {
    "openai": {"max_retries": 0},
    "azure_openai": {"max_retries": 0},
    "anthropic": {"max_retries": 0},
    "google_genai": {"max_retries": 1},  # counts the first attempt
}
"""Retries are ours (LLMErrorHandling): a client's own would stay unseen and multiply with them."""
_NO_KEY = "none"
"""Sent to an endpoint for which the profile names no key, lest the client take one from the environment."""


_EXTRAS = {"anthropic": "anthropic", "google_genai": "google"}
"""Providers whose packages are extras of ours, left out of the runner image by default."""
_NAME = "spec.model.name"
_FORM = (
    "must be scripted or provider:model, such as openai:MODEL; the extras skerry[anthropic] and skerry[google] add "
    "the providers anthropic and google_genai"
)
_NO_KEY_HELP = (
    "no key: name a Secret in spec.model.apiKeySecretRef of the profile (for `skerry run` that Secret stands in the "
    "-f files, or the key in SKERRY_MODEL_API_KEY)"
)


@dataclass(frozen=True)
class BuiltModel:
    """A model, where it stands, and the playhead if it is scripted."""

    model: BaseChatModel
    endpoint: str
    playhead: Playhead | None = None


def endpoint_of(model: DocumentModel) -> str:
    """The endpoint without credentials; the provider's name where it has the provider's own."""
    return public_endpoint(model.base_url) if model.base_url else model.name.partition(":")[0]


def build_model(model: DocumentModel, *, run: str, api_key: str | None) -> BuiltModel:
    """Make the model. Takes up to a second of CPU (a provider's package is imported): not for the event loop.

    Raises:
        InvalidDocument: unusable script, parameter or name.
        RunEnded: ModelError; the provider's client can't be made (a missing key).
    """
    endpoint = endpoint_of(model)
    if model.name == SCRIPTED:
        source = model.script_source or "model.script"
        if model.script is None:
            raise InvalidDocument("InvalidScript", source, f"the model `{SCRIPTED}` needs a script")
        playhead = Playhead(parse_script(model.script, source=source), run)
        return BuiltModel(ScriptedModel(playhead=playhead), endpoint, playhead)
    return BuiltModel(_provider_model(model, endpoint, api_key), endpoint)


def build_title_model(document: RunDocument, *, api_key: str | None) -> BuiltModel | None:
    """The model that titles are asked of, if it is another one than the run's. Raises as `build_model` does."""
    own, name = document.model, document.pipeline.title.model
    # A scripted run speaks through its script alone.
    if name is None or name == own.name or SCRIPTED in {name, own.name}:
        return None
    # The run's parameters were chosen for its own model.
    other = own.model_copy(update={"name": name, "parameters": {}})
    if (provider := provider_of(name)) is not None and provider == provider_of(own.name):
        return build_model(other, run=document.run.uid, api_key=api_key)
    # Another provider is to see neither this one's key nor its endpoint.
    try:
        return build_model(other.model_copy(update={"base_url": None}), run=document.run.uid, api_key=None)
    except InvalidDocument:
        raise
    except RunEnded as ended:
        log.warning("titles are not asked of %s: %s", name, ended)
        return None


def provider_of(name: str) -> str | None:
    """The provider that a name comes to, which LangChain guesses if it names none; None where it can't."""
    # Its own guess, since a key goes where it leads: another copy of the rules would come to differ.
    from langchain.chat_models.base import _parse_model

    try:
        return _parse_model(name, None)[1]
    except ValueError:
        return None


def _provider_model(model: DocumentModel, endpoint: str, api_key: str | None) -> BaseChatModel:
    from langchain.chat_models import init_chat_model  # pulls in much that a scripted run does not need

    provider = provider_of(model.name) or ""
    settings = _OWN_RETRIES_OFF.get(provider, {}) | model_parameters(model.parameters)
    if model.base_url:
        if provider == "openai":
            # At other endpoints than its own the client asks for no usage in streams, and limits of tokens would sleep.
            settings.setdefault("stream_usage", True)
        settings |= {"base_url": model.base_url, "api_key": api_key or _NO_KEY}
    elif api_key:
        settings["api_key"] = api_key
    try:
        return cast("BaseChatModel", init_chat_model(model.name, **settings))
    except ImportError as error:
        raise InvalidDocument("UnknownModel", _NAME, f"{model.name}: {_lacking(provider, error)}") from error
    except Exception as error:
        # init_chat_model has no error of its own for a name that it can't place.
        if isinstance(error, ValueError) and "provider" in str(error).lower() and type(error) is ValueError:
            raise InvalidDocument("UnknownModel", _NAME, f"{model.name}: {_FORM}") from error
        if api_key is None and _wants_key(error):
            raise RunEnded(
                model_failed(
                    ModelErrorReason.AUTHENTICATION_FAILED, f"{model.name}: {_NO_KEY_HELP}", endpoint
                )
            ) from error
        raise RunEnded(model_error(error, endpoint)) from error


def _wants_key(error: Exception) -> bool:
    """Whether a client could not be made for want of a key: each provider has words of its own for that."""
    text = str(error).lower()
    return any(word in text for word in ("credential", "api_key", "api key"))


def _lacking(provider: str, error: ImportError) -> str:
    if provider not in _EXTRAS:
        return str(error)
    return (
        f"this runner lacks the package for {provider}: install the extra skerry[{_EXTRAS[provider]}], or use a runner "
        "image built with `--providers`"
    )
