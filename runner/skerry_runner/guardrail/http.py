"""A policy endpoint in the form of OPA's data API."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import httpx

from skerry_api.guardrail import GuardrailHttp
from skerry_runner.guardrail.types import ALLOWED, Decision, GuardedCall, PolicyError, denied

__all__ = ["HttpPolicy", "PolicyError", "decision_of"]

ANSWER_MAX = 64 * 1024


def decision_of(body: Any) -> Decision:
    """What an answer of the data API says: `result` is a boolean, or an object with `allow` and perhaps reasons.

    Raises:
        PolicyError: it says nothing of the kind. OPA leaves `result` out when the policy has no value.
    """
    if not isinstance(body, Mapping) or "result" not in body:
        raise PolicyError("the policy is not defined: the answer has no result")
    result = body["result"]
    if isinstance(result, bool):
        return ALLOWED if result else denied("policy", "the policy denies it")
    if not isinstance(result, Mapping) or not isinstance(result.get("allow"), bool):
        raise PolicyError("the result is neither a boolean nor an object with a boolean `allow`")
    if result["allow"]:
        return ALLOWED
    return denied("policy", _reasons(result) or "the policy denies it")


def _reasons(result: Mapping[str, Any]) -> str:
    found: list[str] = []
    for key in ("reason", "reasons", "deny", "message"):
        value = result.get(key)
        for one in value if isinstance(value, list) else [value]:
            text = one.get("message") if isinstance(one, Mapping) else one
            if isinstance(text, str) and text.strip():
                found.append(text.strip())
    return "; ".join(dict.fromkeys(found))


class HttpPolicy:
    """Asks the endpoint for every call, of the lead and of subagents. One connection pool, closed by `close`."""

    def __init__(self, settings: GuardrailHttp, headers: Mapping[str, str]) -> None:
        self._settings, self._headers = settings, dict(headers)
        self._client: httpx.AsyncClient | None = None
        self._making = asyncio.Lock()

    async def decide(self, call: GuardedCall) -> Decision:
        """See GuardrailProvider.

        Raises:
            PolicyError: there is no decision: the endpoint is down, slow, or says something else.
        """
        seconds = self._settings.timeout_seconds
        try:
            async with asyncio.timeout(seconds):
                return decision_of(await self._ask(call))
        except TimeoutError:
            raise PolicyError(f"no answer within {seconds} s") from None
        except httpx.HTTPError as error:
            raise PolicyError(f"{type(error).__name__}: {error}") from None

    async def _ask(self, call: GuardedCall) -> Any:
        client = await self._made()
        content = json.dumps({"input": asdict(call)}, default=str)
        async with client.stream("POST", self._settings.url, content=content) as answer:
            body = b""
            async for part in answer.aiter_bytes():
                body += part
                if len(body) > ANSWER_MAX:
                    raise PolicyError(f"an answer of more than {ANSWER_MAX} bytes")
        if answer.status_code != httpx.codes.OK:
            raise PolicyError(f"the endpoint answered {answer.status_code}")
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise PolicyError("the answer is no JSON") from None

    async def _made(self) -> httpx.AsyncClient:
        async with self._making:
            if self._client is None or self._client.is_closed:
                # Reads certificates from disk. No proxies: the endpoint is somewhere near.
                self._client = await asyncio.to_thread(
                    lambda: httpx.AsyncClient(
                        headers={"Content-Type": "application/json", **self._headers},
                        timeout=self._settings.timeout_seconds,
                        trust_env=False,
                        follow_redirects=False,
                    )
                )
            return self._client

    async def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            await self._client.aclose()
