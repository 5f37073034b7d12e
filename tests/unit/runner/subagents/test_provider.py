"""Subagents with a provider's client: what goes over the wire for the lead, and what for them."""

from __future__ import annotations

from openai_stub import Reply, Stub, served
from skerry_testing.runnerworld import RunnerWorld, document


async def test_a_subagent_talks_to_the_run_s_endpoint(world: RunnerWorld) -> None:
    stub = Stub(
        [
            Reply("", tool_calls=(("task", {"prompt": "Look about.", "subagent_type": "bash"}),)),
            Reply("", tool_calls=(("bash", {"command": "ls -a"}),)),
            Reply("There is nothing."),
            Reply("", tool_calls=(("bash", {"command": "ls -b"}),)),
            Reply("Done."),
        ]
    )
    with served(stub) as url:
        what = document(None, model="openai:stub", base_url=url, subagents={"enabled": True})
        result = await world.run(what, api_key="k-123456")
    assert result.answer == "Done.", result.outcome
    tools = [[tool["function"]["name"] for tool in request["tools"]] for request in stub.requests]
    assert ["task" in names for names in tools] == [True, False, False, True, True]
    (schema,) = [tool["function"] for tool in stub.requests[0]["tools"] if tool["function"]["name"] == "task"]
    assert schema["parameters"]["properties"]["subagent_type"]["enum"] == ["general-purpose", "bash"]
    child = stub.requests[1]["messages"]
    assert [message["role"] for message in child] == ["system", "user"]
    assert child[1]["content"] == "Look about."
    assert "name" not in stub.requests[2]["messages"][2]
    commands = world.provider.sandbox.commands
    assert [command.command for command in commands] == ["ls -a", "ls -b"]
    assert len({command.key for command in commands}) == 2
    assert 0 < result.usage.subagents < result.usage.total
