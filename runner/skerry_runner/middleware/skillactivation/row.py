"""The row: a skill's whole text before the user's message, and the list of skills, in this request alone."""

from __future__ import annotations

import hashlib
import html
from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, HumanMessage
from typing_extensions import override

from skerry_api.rows.skillactivation import SkillActivationSettings
from skerry_runner.context import RunContext
from skerry_runner.messages import HIDDEN, STOP
from skerry_runner.middleware.skillactivation.catalogue import READERS, catalogue, with_catalogue
from skerry_runner.middleware.skillactivation.decide import Activation, Refusal, decide
from skerry_runner.paths import SKILLS
from skerry_runner.state import RunnerState

__all__ = ["ACTIVATION", "REFUSED", "SkillActivation", "activation_message", "refusal_message"]

ACTIVATION = "skill_activation"
"""Flag in additional_kwargs of the message that holds a skill."""
REFUSED = "skill_refused"
"""Key in additional_kwargs of an answer that is ours: the Verdict."""
_WITH_TEXT = "Work on the user's next message as this skill tells you."
_ALONE = "The user wrote nothing but the skill's name: do what it tells you, and ask if something is missing."


def activation_message(activation: Activation) -> HumanMessage:
    """The hidden message. Same activation, same message: attempts don't differ, and prefixes are cached."""
    skill, text = activation.skill, activation.text
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    lines = [
        "<skill_activation>",
        f"The user called the skill {skill.name}. {_WITH_TEXT if activation.more else _ALONE}",
        f'<skill name="{html.escape(skill.name)}" path="{html.escape(skill.path)}" sha256="{digest}">',
        '<skill_content encoding="xml-escaped">',
        html.escape(text, quote=False),
        "</skill_content>",
        *(
            f"<skill_file>{html.escape(f'{SKILLS}/{skill.name}/{name}')}</skill_file>"
            for name in sorted(skill.files)
        ),
        "</skill>",
        "</skill_activation>",
    ]
    return HumanMessage(
        content="\n".join(lines),
        id=f"{activation.target.id}__slash_activation",
        additional_kwargs={HIDDEN: True, ACTIVATION: {"name": skill.name, "sha256": digest}},
    )


def refusal_message(refusal: Refusal) -> AIMessage:
    """A final answer that no guard bounces back: the model has nothing to add."""
    return AIMessage(
        content=refusal.text,
        id=f"{refusal.target.id}__skill",
        additional_kwargs={STOP: True, REFUSED: refusal.verdict.value},
        response_metadata={"finish_reason": "stop"},
    )


class SkillActivation(AgentMiddleware[RunnerState, RunContext, Any]):
    """In every request of the run whose message calls the skill, and in no state: the next run is free of it."""

    state_schema = RunnerState

    def __init__(self, settings: SkillActivationSettings | None = None) -> None:
        super().__init__()
        self._settings = settings or SkillActivationSettings()

    @override
    async def awrap_model_call(
        self,
        request: ModelRequest[RunContext],
        handler: Callable[[ModelRequest[RunContext]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | AIMessage:
        context = request.runtime.context
        settings = self._settings
        allowed = None if settings.allowed is None else frozenset(settings.allowed)
        decision = decide(request.messages, context.skills, allowed=allowed, max_chars=settings.max_chars)
        if isinstance(decision, Refusal):
            return refusal_message(decision)
        request = self._with_catalogue(request, allowed)
        if decision is not None:
            before, after = request.messages[: decision.index], request.messages[decision.index :]
            request = request.override(messages=[*before, activation_message(decision), *after])
        return await handler(request)

    def _with_catalogue(
        self, request: ModelRequest[RunContext], allowed: frozenset[str] | None
    ) -> ModelRequest[RunContext]:
        skills = request.runtime.context.skills
        if not skills or not self._settings.catalogue:
            return request
        names = {each.get("name") if isinstance(each, dict) else each.name for each in request.tools}
        text = catalogue(skills, allowed) if READERS & names else ""
        return (
            request.override(system_message=with_catalogue(request.system_message, text)) if text else request
        )
