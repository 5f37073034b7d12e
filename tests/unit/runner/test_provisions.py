"""What is staged before a server is opened and before the agent begins."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.tools import BaseTool
from typing_extensions import override

from skerry_api.phases import OutcomeClass
from skerry_runner.checkpoint import memory_saver
from skerry_runner.files import GivenFile
from skerry_runner.invocation import Invocation
from skerry_runner.session import SandboxSession
from skerry_runner.skills import Skill
from skerry_runner.toolservers import NoToolServers
from skerry_testing.runnerworld import RunnerWorld, document

NOTES = GivenFile("notes", b"given")
SKILL = "/mnt/skills/pdf/SKILL.md"


class Bound(NoToolServers):
    """A server in the sandbox: it sees what is there when it is opened."""

    seen: dict[str, bytes]

    def __init__(self, world: RunnerWorld, session: SandboxSession) -> None:
        self._world, self._session = world, session

    @override
    async def open(self) -> Sequence[BaseTool]:
        await self._session.acquire()
        Bound.seen = dict(self._world.provider.sandbox.files)
        return ()


async def test_a_server_finds_files_and_skills(world: RunnerWorld) -> None:
    saver = memory_saver()
    for epoch, there in ((1, b"given"), (2, b"worked on")):
        invocation = Invocation(
            document("steps: [{toolCalls: [{name: ls}]}, {say: done}]", epoch=epoch),
            world.ports(),
            api_key=None,
            checkpointer=saver,
            files=[NOTES],
            skills=[Skill("pdf", "how to")],
            servers=lambda session: Bound(world, session),
        )
        async with invocation.session.hold():
            result = await invocation.run()
        assert result.outcome.class_ is OutcomeClass.SUCCEEDED, result.outcome
        assert Bound.seen == {NOTES.path: there, SKILL: b"how to"}
        # What an epoch has changed stays for the next one.
        world.provider.sandbox.files[NOTES.path] = b"worked on"
