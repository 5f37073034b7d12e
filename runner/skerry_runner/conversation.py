"""The agent's share of an epoch: from where the thread stands to its end, through every question that is answered here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from skerry_api.document import RunDocument
from skerry_runner.agent import Agent, steps_for
from skerry_runner.context import RunContext
from skerry_runner.models.observer import ModelObserver
from skerry_runner.outcome import Redactor, redacted
from skerry_runner.pause import Paused, Pending, open_question
from skerry_runner.persistence.claim import thread_key
from skerry_runner.persistence.errors import StateGone
from skerry_runner.ports import Questions
from skerry_runner.provisions import prompt_id
from skerry_runner.state import RunLimits
from skerry_runner.usage import Tally, counts_of, shown_artifacts

__all__ = ["Conversation"]


@dataclass(frozen=True)
class Conversation:
    """One epoch's part of a thread."""

    document: RunDocument
    tally: Tally
    observer: ModelObserver
    questions: Questions
    redact: Redactor

    async def go_on(self, agent: Agent, context: RunContext) -> Mapping[str, Any]:
        """The state in the end. Raises Paused where a question waits for an answer elsewhere, and StateGone."""
        document = self.document
        config: RunnableConfig = {
            "configurable": {"thread_id": thread_key(document)},
            "callbacks": [self.observer],
            "recursion_limit": steps_for(document.max_turns),
        }
        prompt = HumanMessage(content=document.prompt, id=prompt_id(document))
        kept = await agent.aget_state(config)
        self.tally.title(kept.values.get("title"))
        context.sandbox.worked_in((kept.values.get("sandbox") or {}).get("pod"))
        again = any(message.id == prompt.id for message in kept.values.get("messages", ()))
        if again:
            # An earlier epoch of this run began: go on from its last checkpoint.
            self._seed(kept.values)
            if not kept.next:
                return kept.values
        elif document.resume:
            raise StateGone
        # A question that an earlier run of the thread left open is history: pairing mends its call.
        pending = open_question(kept.interrupts) if again else None
        return await self._talk(agent, None if again else {"messages": [prompt]}, config, context, pending)

    def _seed(self, values: Mapping[str, Any]) -> None:
        run = self.document.run.uid
        counts = counts_of((values.get("limits") or {}).get(run, RunLimits()))
        self.tally.seed(replace(counts, artifacts=shown_artifacts(values.get("artifacts") or (), run)))

    async def _talk(
        self,
        agent: Agent,
        given: Any,
        config: RunnableConfig,
        context: RunContext,
        pending: Pending | None,
    ) -> Mapping[str, Any]:
        """Invoke the agent, and again for every question that is answered."""
        while True:
            if pending is not None:
                question = redacted(pending.question, self.redact)
                answer = await self.questions.ask(question)
                if answer is None:
                    raise Paused(question)
                given = Command(resume={pending.interrupt: answer})
                context = replace(context, resumes=frozenset({question.id}))
            state: Mapping[str, Any] = await agent.ainvoke(given, config, context=context, durability="sync")
            pending = open_question(state.get("__interrupt__", ()))
            if pending is None:
                return state
