"""Model parameters from the document: strings into values, and only names that can't redirect the model's key. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from skerry_runner.outcome import InvalidDocument

__all__ = ["ALLOWED", "model_parameters"]

# A list of what is allowed, not of what is not: a run may lay its parameters over its profile's, and one that named
# an endpoint, a proxy, a header or an HTTP client could send the profile's key anywhere.
ALLOWED = frozenset(
    {
        "disable_streaming", "effort", "extra_body", "frequency_penalty", "include_thoughts", "logit_bias", "logprobs",
        "max_completion_tokens", "max_output_tokens", "max_retries", "max_tokens", "min_p", "n", "num_ctx",
        "num_predict", "output_version", "parallel_tool_calls", "presence_penalty", "reasoning", "reasoning_effort",
        "repeat_penalty", "repetition_penalty", "seed", "service_tier", "stop", "stop_sequences", "stream_usage",
        "streaming", "temperature", "thinking", "thinking_budget", "thinking_level", "timeout", "top_k",
        "top_logprobs", "top_p", "truncation", "use_responses_api", "verbosity",
    }
)  # fmt: skip


def model_parameters(parameters: Mapping[str, str]) -> dict[str, Any]:
    """Each value as JSON where it is JSON (`"0.2"` → 0.2), else the string itself.

    Raises:
        InvalidDocument: reason InvalidParameter; a name is not allowed.
    """
    for name in sorted(parameters):
        if name not in ALLOWED:
            raise InvalidDocument(
                "InvalidParameter",
                f"model.parameters.{name}",
                f"not allowed; allowed are {', '.join(sorted(ALLOWED))}",
            )
    return {name: _value(text) for name, text in parameters.items()}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
