"""The operator in more than one Pod, and with a new signing key, while runs go on."""

from __future__ import annotations

import asyncio
import base64
import subprocess
import time
from typing import Any

import pytest

from skerry_api.grants import GrantError, verify_grant
from skerry_api.keys import KeySet, SigningKey
from skerry_testing.apiserver import ApiServer
from skerry_testing.operators import kill_leader, leader, restart_operator, scaled
from skerry_testing.world import World, bash, say

pytestmark = pytest.mark.alone

SECRET = "skerry-signing-key"
HOLD = "until [ -e go ]; do sleep 0.2; done"


def let_go(world: World, sandbox: str) -> None:
    world.in_pod(sandbox, "touch", "/mnt/user-data/workspace/go")


def has_sandbox(status: dict[str, Any]) -> bool:
    return bool(status.get("sandbox", {}).get("state") == "Ready")


async def test_a_standby_takes_over_when_the_leading_pod_is_lost(world: World) -> None:
    once = "echo once >> count.txt; echo count-$(wc -l < count.txt)"
    async with scaled(world, 2) as system:
        held = await world.run(bash(f"{HOLD}; {once}", "c1"), say("Done.", "count-1$"), threadId="takeover")
        behind = await world.run(bash(once, "c1"), say("Done.", "count-2$"), threadId="takeover")
        box = (await world.wait(held, has_sandbox))["status"]["sandbox"]["name"]
        await world.phase(behind, "Queued")

        lost = await kill_leader(world, system)
        # Nobody but a new leader takes this one in, and the one that is queued.
        late = await world.run(say("Late."))
        let_go(world, box)
        ended = await asyncio.gather(*(world.phase(name, "Succeeded") for name in (held, behind, late)))
        assert await leader(system) not in {"", lost}
    assert {(status["epoch"], status["attempts"]) for status in ended} == {(1, 1)}
    first, second, _ = (status.get("sandbox", {}) for status in ended)
    assert (first["replacements"], second["replacements"]) == (0, 0)
    assert first["podUID"] == second["podUID"]
    pods = await world.api.list("Pod", labels=f"skerry.dev/run in ({held},{behind},{late})")
    assert sorted(pod["metadata"]["name"] for pod in pods) == sorted(f"{n}-1" for n in (held, behind, late))


@pytest.fixture
def new_pem() -> str:
    """As the docs have it made."""
    command = ["openssl", "genpkey", "-algorithm", "ed25519"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


async def test_the_signing_key_is_changed_as_the_docs_say(world: World, new_pem: str) -> None:
    new = SigningKey.from_pem(new_pem)
    async with ApiServer(world.stack.access, world.stack.operator_namespace) as system:
        secret = await system.get("Secret", SECRET)
        old = SigningKey.from_pem(base64.b64decode(secret["data"]["current.pem"]))

        await system.patch("Secret", SECRET, {"stringData": {"next.pem": new_pem}})
        await restart_operator(world, system)
        living = await world.run(
            bash(f"echo kept > note.txt; {HOLD}", "c1"), bash("cat note.txt", "c2"), say("Kept.", "kept"),
            threadId="rotated",
        )  # fmt: skip
        before = (await world.wait(living, has_sandbox))["status"]["sandbox"]
        assert signer(before["grant"], old, new) is old

        change = {"stringData": {"current.pem": new_pem}, "data": {"next.pem": None}}
        await system.patch("Secret", SECRET, change)
        await restart_operator(world, system)
    # The grant that the run has is good to its end: its sandbox knows both keys.
    assert (await world.api.get("AgentRun", living))["status"]["sandbox"]["grant"] == before["grant"]
    let_go(world, before["name"])
    after = await world.phase(living, "Succeeded")
    assert (after["epoch"], after["sandbox"]["replacements"]) == (1, 0)

    again, fresh = (
        await world.run(bash("cat note.txt", "c1"), say("Read.", "kept"), threadId="rotated"),
        await world.run(bash("echo fresh", "c1"), say("Made.", "fresh"), threadId="fresh"),
    )
    granted = await asyncio.gather(
        *(world.wait(name, lambda status: "grant" in status.get("sandbox", {})) for name in (again, fresh))
    )
    boxes = [run["status"]["sandbox"] for run in granted]
    assert [signer(box["grant"], old, new) for box in boxes] == [new, new]
    assert [box["podUID"] == before["podUID"] for box in boxes] == [True, False]
    for name in (again, fresh):
        await world.phase(name, "Succeeded")


def signer(grant: str, *keys: SigningKey) -> SigningKey:
    """Whose word a grant is."""
    for key in keys:
        try:
            verify_grant(grant, KeySet.of([key.public]), now=int(time.time()))
        except GrantError:
            continue
        return key
    raise AssertionError("signed by neither")
