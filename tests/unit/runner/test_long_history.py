"""A thread with thousands of messages, broken ones among them: the whole chain goes on, and nothing of it is lost."""

from __future__ import annotations

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig

from skerry_api.document import RunDocument
from skerry_api.phases import OutcomeClass
from skerry_runner.checkpoint import memory_saver
from skerry_runner.invocation import thread_key
from skerry_runner.pipeline import assemble
from skerry_runner.state import RunnerState
from skerry_testing.rowrun import Played, play
from skerry_testing.runnerworld import RunnerWorld, document

TURNS = 1500
SCRIPT = """
steps:
- expect: {contains: ['result 0[^0-9]', 'result 1499[^0-9]']}
  toolCalls: [{name: ls, args: {path: /mnt/user-data/workspace}}]
- say: done
"""


def whole(*, summarize: bool = False) -> RunDocument:
    """Every row on; a summary replaces the history if it is asked for."""
    trigger = [{"messages": 100 if summarize else 100_000}]
    return document(
        SCRIPT if not summarize else "steps: [{purpose: summary, say: NOTES}, {expect: {contains: [NOTES]}, say: done}]",
        vision=True, guardrail={"deny": ["none"]}, subagents={"enabled": True},
        pipeline={
            "summarization": {"enabled": True, "trigger": trigger}, "todoList": {"enabled": True}, "memory": {"enabled": True},
        },
    )  # fmt: skip


def history() -> list[AnyMessage]:
    """Turns as they should be; every tenth has a call without a result, every 25th a result without a call."""
    messages: list[AnyMessage] = []
    for n in range(TURNS):
        calls = [{"name": "ls", "args": {"n": n}, "id": f"c{n}"}]
        if n % 10 == 0:
            calls.append({"name": "ls", "args": {}, "id": f"lost{n}"})
        messages += [
            HumanMessage(f"question {n}", id=f"h{n}"),
            AIMessage("", id=f"a{n}", tool_calls=calls),
            ToolMessage(f"result {n}", id=f"t{n}", tool_call_id=f"c{n}", name="ls"),
        ]
        if n % 25 == 0:
            messages.append(ToolMessage("stray", id=f"s{n}", tool_call_id=f"none{n}", name="ls"))
    return messages


async def played(world: RunnerWorld, what: RunDocument) -> Played:
    saver = memory_saver()
    earlier = create_agent(FakeListChatModel(responses=[]), [], state_schema=RunnerState, checkpointer=saver)
    config: RunnableConfig = {"configurable": {"thread_id": thread_key(what)}}
    await earlier.aupdate_state(config, {"messages": history()}, as_node="model")
    return await play(world, what, assemble(what), saver=saver)


async def test_a_run_goes_on_behind_thousands_of_messages(world: RunnerWorld) -> None:
    done = await played(world, whole())
    assert (done.result.outcome.class_, done.result.answer) == (OutcomeClass.SUCCEEDED, "done"), (
        done.result.outcome
    )
    kept = {message.id: message for message in done.messages}
    assert len(kept) == len(done.messages)
    assert all(kept[message.id].content == message.content for message in history())


async def test_a_summary_takes_their_place(world: RunnerWorld) -> None:
    done = await played(world, whole(summarize=True))
    assert (done.result.outcome.class_, done.result.answer) == (OutcomeClass.SUCCEEDED, "done"), (
        done.result.outcome
    )
    assert len(done.messages) < 100
    assert next(m.text for m in done.messages if m.name == "summary").count("NOTES") == 1
