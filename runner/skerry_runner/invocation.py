"""One invocation of the agent: what it is made of, and what its end means."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from typing import Any

from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver

from skerry_api.agentprofile import ToolName
from skerry_api.document import RunDocument
from skerry_api.phases import OutcomeClass, StopReason
from skerry_api.report import Outcome, Progress, RunArtifact
from skerry_runner.agent import Agent, build_agent
from skerry_runner.artifacts import keeper_of
from skerry_runner.budget import Budget
from skerry_runner.context import RunContext, ToolLimits
from skerry_runner.conversation import Conversation
from skerry_runner.customrows import tool_names
from skerry_runner.ending import end_of
from skerry_runner.events import RunStart, ScriptUnused
from skerry_runner.files import GivenFile
from skerry_runner.firstcall import FirstToolCall
from skerry_runner.guardrail.http import HttpPolicy
from skerry_runner.guardrail.types import NoEndpoint
from skerry_runner.headers import guardrail_headers, header_values
from skerry_runner.llm.calls import Breakers, ModelCalls
from skerry_runner.mcpsetup import mcp_servers
from skerry_runner.memory import MemorySource, NoMemory
from skerry_runner.memory.asker import asker
from skerry_runner.memory.runmemory import OpenStore, RunMemory
from skerry_runner.memory.stores import store_at
from skerry_runner.models.build import BuiltModel, build_model, build_title_model
from skerry_runner.models.observer import ModelObserver
from skerry_runner.outcome import Redactor, RunEnded, app_error, awaiting, cut_bytes, model_error, redacted
from skerry_runner.pause import Paused
from skerry_runner.persistence.claim import claim_of, thread_key
from skerry_runner.persistence.opening import KeptState, StatePlace, open_state
from skerry_runner.ports import Ports, RunResult
from skerry_runner.provisions import provide
from skerry_runner.session import SandboxSession
from skerry_runner.skills import Skill
from skerry_runner.subagents.pool import SubagentPool
from skerry_runner.subagents.replay import seed_played
from skerry_runner.toolservers import NoToolServers, OpenServers, ToolServers
from skerry_runner.tracing import spare_threads
from skerry_runner.usage import Counts, Tally

__all__ = ["AgentBuilder", "Invocation", "thread_key", "tool_limits"]

AgentBuilder = Callable[[RunDocument, BuiltModel, BaseCheckpointSaver[Any], Sequence[BaseTool]], Agent]
"""The last: tools of servers, beside those that the document names."""


def tool_limits(document: RunDocument) -> ToolLimits:
    """What the pipeline's settings say of the tools' own limits."""
    pipeline = document.pipeline
    limits = ToolLimits(image_bytes=pipeline.view_image.max_image_bytes)
    budget = pipeline.tool_output_budget
    # What a tool cut off could not go to a file; but whom the row leaves alone keeps a limit of its own.
    held = budget.enabled and ToolName.BASH not in budget.exempt_tools
    return replace(limits, bash_chars=0) if held else limits


def _run_memory(document: RunDocument, ports: Ports, open_store: OpenStore) -> RunMemory | None:
    settings = document.pipeline.memory
    if not settings.enabled:
        return None
    return RunMemory(
        open_store,
        namespace=document.run.namespace,
        profile=document.profile,
        epoch=document.run.epoch,
        settings=settings,
        journal=ports.journal,
        clock=ports.clock,
    )


class Invocation:
    """Everything that lives as long as one invocation. Make it on the event loop."""

    def __init__(
        self,
        document: RunDocument,
        ports: Ports,
        *,
        api_key: str | None,
        checkpointer: BaseCheckpointSaver[Any] | None,
        build: AgentBuilder = build_agent,
        breakers: Breakers | None = None,
        files: Sequence[GivenFile] = (),
        skills: Sequence[Skill] = (),
        memory: MemorySource | None = None,
        open_memory: OpenStore | None = None,
        servers: OpenServers | None = None,
        environ: Mapping[str, str] | None = None,
        place: StatePlace | None = None,
    ) -> None:
        """`environ` holds the headers of the document's MCP servers; `servers` takes the place of these.

        `place` is where state is kept; a `checkpointer` that is open already takes its place.
        `open_memory` opens the store of memories in another place, if memory is on; `memory` is read instead.
        """
        self._skills = tuple(skills)
        self._files = tuple(files)
        self._breakers = breakers or Breakers()
        self._build = build
        self._document = document
        self._ports = ports
        self._api_key = api_key
        self._checkpointer, self._place = checkpointer, place or StatePlace()
        self._keeper = _run_memory(document, ports, open_memory or store_at(self._place))
        self._memory = memory or self._keeper or NoMemory()
        self._environ = environ or {}
        self._redact = Redactor([api_key, *header_values(document, self._environ), *self._place.secrets()])
        self._built: BuiltModel | None = None
        self._title_model: BuiltModel | None = None
        self._tally = Tally(
            lambda counts: ports.reporter.progress(
                self._progress(counts), counts.usage(), self._artifacts(counts)
            ),
            document.model.price,
            redact=self._redact,
        )
        self._budget = Budget(document.max_tokens, document.max_cost_micro_usd)
        self._observer = ModelObserver(ports.journal, self._tally)
        self.session = SandboxSession(ports.sandboxes, ports.reporter, ports.journal)
        self._open_servers = servers
        self._servers: ToolServers = NoToolServers()
        self._policy: HttpPolicy | None = None
        self._subagents: SubagentPool | None = None

    def start_event(self) -> RunStart:
        """The journal's first line."""
        document = self._document
        return RunStart(
            namespace=document.run.namespace,
            name=document.run.name,
            profile=document.profile,
            model=document.model.name,
            tools=tuple(document.tools),
            sandbox_id=document.sandbox.sandbox_id,
            prompt_chars=len(document.prompt),
        )

    async def run(self) -> RunResult:
        """Run the agent to its end. Raises asyncio.CancelledError alone."""
        spare_threads()
        try:
            # Making a provider's client imports its package and may read certificates.
            self._built = await asyncio.to_thread(
                build_model, self._document.model, run=self._document.run.uid, api_key=self._api_key
            )
            self._title_model = await asyncio.to_thread(
                build_title_model, self._document, api_key=self._api_key
            )
            async with self._kept() as kept:
                # Before servers and sandbox: an epoch that others have overtaken touches nothing.
                await self._provide(kept)
                self._servers = self._made_servers()(self.session)
                tools = await self._servers.open()
                self._subagents = SubagentPool(self._document, self._built, tools)
                agent = self._build(self._document, self._built, kept.saver, tools)
                self._policy = self._made_policy()
                context = self._context()
                state = await self._conversation().go_on(agent, context)
            await self._draw_facts(state, context)
        except Paused as paused:
            return replace(self.result(awaiting(paused.question)), question=paused.question)
        except RunEnded as ended:
            return self.result(ended.outcome)
        except Exception as error:  # noqa: BLE001 - whatever ended the run is its outcome
            if self._built is not None and self._observer.made(error):
                return self.result(model_error(error, self._built.endpoint, self._redact))
            return self.result(
                app_error(type(error).__name__, self._redact(str(error)) or type(error).__name__)
            )
        finally:
            await self._servers.close()
            if self._policy is not None:
                await self._policy.close()
            if self._keeper is not None:
                await self._keeper.close()
        if self._built.playhead is not None:
            seed_played(self._built.playhead, state, self._document.run.uid)
        end = end_of(state, self._document.run.uid)
        result = self.result(end.outcome, end.stop_reason, end.answer)
        return self._strict(replace(result, answer_id=end.answer_id))

    def _kept(self) -> AbstractAsyncContextManager[KeptState]:
        if self._checkpointer is not None:
            return nullcontext(KeptState(self._checkpointer))
        return open_state(self._place, claim_of(self._document))

    async def _provide(self, kept: KeptState) -> None:
        """A server that runs in the sandbox may need what others will."""
        await provide(self.session, self._document, kept, files=self._files, skills=self._skills)

    def _made_policy(self) -> HttpPolicy | None:
        """Raises InvalidDocument."""
        headers, guardrail = guardrail_headers(self._environ), self._document.guardrail
        return HttpPolicy(guardrail.http, headers) if guardrail is not None and guardrail.http else None

    def _made_servers(self) -> OpenServers:
        """Raises InvalidDocument."""
        if self._open_servers is not None:
            return self._open_servers
        servers, custom = self._document.mcp_servers, self._document.pipeline.custom
        return mcp_servers(
            servers,
            environ=self._environ,
            journal=self._ports.journal,
            reserved=tool_names(custom) if servers else (),
        )

    def result(
        self, outcome: Outcome, stop_reason: StopReason | None = None, answer: str | None = None
    ) -> RunResult:
        """The outcome with the counters as they stand, secrets blanked out, the answer cut to size."""
        counts = self._tally.counts
        return RunResult(
            outcome=outcome.model_copy(update={"message": self._redact(outcome.message)}),
            stop_reason=stop_reason,
            answer=None if answer is None else cut_bytes(self._redact(answer)),
            usage=counts.usage(),
            progress=self._progress(counts),
            sandbox_id=self.session.last_id,
            artifacts=self._artifacts(counts),
        )

    def _progress(self, counts: Counts) -> Progress:
        """As status may show it: titles and todos are the model's words."""
        return redacted(counts.progress(), self._redact)

    def _artifacts(self, counts: Counts) -> tuple[RunArtifact, ...] | None:
        return tuple(redacted(each, self._redact) for each in counts.artifacts or ()) or None

    def note_unused(self) -> None:
        """Journal the steps of a script that nobody played."""
        if self._built and self._built.playhead and (unused := self._built.playhead.unused()):
            self._ports.journal.emit(ScriptUnused(steps=unused))

    def _strict(self, result: RunResult) -> RunResult:
        playhead = self._built.playhead if self._built else None
        if playhead is None or not playhead.parsed.script.strict or not (unused := playhead.unused()):
            return result
        if result.outcome.class_ is not OutcomeClass.SUCCEEDED:
            return result
        first = playhead.where(unused[0].step)
        return self.result(
            app_error("ScriptMismatch", f"{first}: never played ({len(unused)} steps are left over)")
        )

    async def _draw_facts(self, state: Mapping[str, Any], context: RunContext) -> None:
        """What was enqueued becomes facts, unless the run is told to stop: then it waits for the next one.

        Raises:
            RunEnded: the script does not fit the run.
        """
        if self._keeper is None:
            return
        ask = asker(context, state, self._observer, self._document.pipeline.memory.flush_timeout_seconds)
        drawing = asyncio.create_task(
            self._keeper.finish(ask, thread=context.thread, user=context.user), name="memory"
        )
        try:
            await asyncio.wait({drawing})
        except asyncio.CancelledError:
            # The agent had ended well by then.
            drawing.cancel()
            await asyncio.wait({drawing})
        if not drawing.cancelled():
            drawing.result()

    def _conversation(self) -> Conversation:
        return Conversation(
            self._document,
            tally=self._tally,
            observer=self._observer,
            questions=self._ports.questions,
            redact=self._redact,
        )

    def _context(self) -> RunContext:
        document, ports = self._document, self._ports

        async def report_first_call() -> None:
            counts = self._tally.counts
            first = replace(counts, tool_calls=max(1, counts.tool_calls))
            await ports.reporter.first_tool_call(self._progress(first), first.usage())

        calls = self._model_calls()
        return RunContext(
            run=document.run.uid,
            thread=document.thread_id,
            user=document.user_id,
            max_turns=document.max_turns,
            budget=self._budget,
            acquire=document.sandbox.acquire,
            sandbox=self.session,
            first_tool_call=FirstToolCall(report_first_call),
            tally=self._tally,
            journal=ports.journal,
            clock=ports.clock,
            calls=calls,
            model=self._built,
            title_model=self._title_model,
            gate=calls.gate,
            memory=self._memory,
            keeper=self._keeper,
            skills=self._skills,
            files=self._files,
            artifacts=keeper_of(self._place.volume, document.run.uid),
            deferred=self._servers,
            subagents=self._subagents,
            redact=self._redact,
            policy=self._policy or NoEndpoint(),
            tools=tool_limits(document),
        )

    def _model_calls(self) -> ModelCalls:
        ports, built = self._ports, self._built
        return ModelCalls(
            endpoint=built.endpoint if built else "",
            journal=ports.journal,
            settings=self._document.pipeline.llm_error_handling,
            breakers=self._breakers,
            timing=ports.timing,
            clock=ports.clock,
            made=self._observer.made,
            redact=self._redact,
            spent=lambda: self._budget.spent(self._tally.whole),
        )
