"""Process trees: what ends with a command, and what does not."""

from __future__ import annotations

import asyncio
import time

import pytest

from skerry_testing.conformance.harness import Harness, alive, pids
from skerry_testing.eventually import eventually

__all__ = ["TreeConformance"]


class TreeConformance:
    # A child, one in a session of its own, and one whose parent is gone as well.
    STRAYS = (
        "sleep 600 & echo $! >> pids;"
        " setsid sh -c 'echo $$ >> pids; exec sleep 600' &"
        " (setsid sh -c 'echo $$ >> pids; exec sleep 600' &) ;"
        " echo $$ >> pids;"
    )

    async def test_timeout_ends_the_whole_tree(self, harness: Harness) -> None:
        command = self.STRAYS + "echo begun; sleep 600"
        result = await harness.sandbox.execute(command, key=harness.key("a"), timeout_seconds=1.5)
        assert result.timed_out
        assert result.text == "begun\n"
        found = pids(harness.real / "pids")
        assert len(found) == 4
        await eventually(lambda: not any(alive(pid) for pid in found))

    async def test_term_is_not_enough_for_some(self, harness: Harness) -> None:
        command = "trap '' TERM; echo $$ > pids; while :; do sleep 0.1; done"
        result = await harness.sandbox.execute(command, key=harness.key("a"), timeout_seconds=0.5)
        assert result.timed_out
        assert result.signal == "SIGKILL"
        assert not alive(pids(harness.real / "pids")[0])

    async def test_cancelling_ends_the_whole_tree(self, harness: Harness) -> None:
        task = asyncio.create_task(harness.sandbox.execute(self.STRAYS + "sleep 600", key=harness.key("a")))
        await eventually(lambda: len(pids(harness.real / "pids")) == 4)
        found = pids(harness.real / "pids")
        assert all(alive(pid) for pid in found)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await eventually(lambda: not any(alive(pid) for pid in found))

    async def test_a_background_process_outlives_its_command(self, harness: Harness) -> None:
        began = time.monotonic()
        result = await harness.sandbox.execute(
            "sleep 600 & echo $! > pids; echo started", key=harness.key("a")
        )
        # It holds the pipe open; the command has ended all the same.
        assert time.monotonic() - began < 60
        assert (result.text, result.exit_code) == ("started\n", 0)
        (pid,) = pids(harness.real / "pids")
        assert alive(pid)
        await harness.sandbox.execute(f"kill {pid}", key=harness.key("b"))
        await eventually(lambda: not alive(pid))

    async def test_what_is_left_may_go_on_writing(self, harness: Harness) -> None:
        command = "(until [ -e go ]; do sleep 0.01; done; echo late; echo ok > late) & echo started"
        assert (await harness.sandbox.execute(command, key=harness.key("a"))).text == "started\n"
        (harness.real / "go").touch()
        # A closed pipe would have killed it before the second echo.
        await eventually((harness.real / "late").exists)
