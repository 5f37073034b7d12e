"""Commands: output, exit, keys, caps, as every Sandbox has them."""

from __future__ import annotations

import asyncio

import pytest

from skerry_runner.sandbox import errors
from skerry_runner.sandbox.types import Chunk, Source
from skerry_testing.conformance.harness import Harness

__all__ = ["CommandConformance"]


class CommandConformance:
    async def test_output_and_exit_code(self, harness: Harness) -> None:
        result = await harness.sandbox.execute("echo out; echo err >&2; exit 3", key=harness.key("a"))
        assert (result.stdout, result.stderr, result.exit_code, result.signal) == (
            b"out\n",
            b"err\n",
            3,
            None,
        )
        assert not result.timed_out
        assert not result.truncated

    async def test_starts_in_the_workspace(self, harness: Harness) -> None:
        result = await harness.sandbox.execute("pwd", key=harness.key("a"))
        assert result.text == f"{harness.workspace}\n"

    async def test_cwd_and_env(self, harness: Harness) -> None:
        await harness.sandbox.write_file(f"{harness.workspace}/sub dir/f", b"x")
        result = await harness.sandbox.execute(
            'pwd; ls; echo "$GREETING"',
            key=harness.key("a"),
            cwd=f"{harness.workspace}/sub dir",
            env={"GREETING": "a b"},
        )
        assert result.text == f"{harness.workspace}/sub dir\nf\na b\n"

    async def test_missing_cwd_is_named(self, harness: Harness) -> None:
        with pytest.raises(errors.InvalidCall) as caught:
            await harness.sandbox.execute("true", key=harness.key("a"), cwd=f"{harness.workspace}/nowhere")
        assert caught.value.field == "cwd"
        # Nothing ran, so the key is free.
        assert (await harness.sandbox.execute("true", key=harness.key("a"))).exit_code == 0

    async def test_commands_and_files_see_the_same(self, harness: Harness) -> None:
        await harness.sandbox.write_file(f"{harness.workspace}/in.txt", b"one\ntwo\n")
        command = f"wc -l < {harness.workspace}/in.txt > {harness.workspace}/out.txt"
        assert (await harness.sandbox.execute(command, key=harness.key("a"))).exit_code == 0
        assert (await harness.sandbox.read_file(f"{harness.workspace}/out.txt")).strip() == b"2"

    async def test_stdin_is_empty(self, harness: Harness) -> None:
        assert (await harness.sandbox.execute("cat; echo end", key=harness.key("a"))).text == "end\n"

    async def test_secrets_of_ours_are_not_inherited(self, harness: Harness) -> None:
        result = await harness.sandbox.execute("env", key=harness.key("a"))
        names = {line.split("=")[0] for line in result.text.splitlines()}
        assert not {name for name in names if name.startswith(("SKERRY_", "KUBERNETES_"))}
        assert "PATH" in names

    async def test_binary_output(self, harness: Harness) -> None:
        result = await harness.sandbox.execute(r"printf '\377\000\303'", key=harness.key("a"))
        assert result.stdout == b"\xff\x00\xc3"

    async def test_a_long_command(self, harness: Harness) -> None:
        text = "x" * 300_000
        result = await harness.sandbox.execute(
            f"cat > big <<'E'\n{text}\nE\nwc -c < big", key=harness.key("a")
        )
        assert result.text.strip() == str(len(text) + 1)

    async def test_killed_by_a_signal(self, harness: Harness) -> None:
        result = await harness.sandbox.execute("kill -SEGV $$", key=harness.key("a"))
        assert (result.exit_code, result.signal) == (None, "SIGSEGV")

    async def test_the_same_key_runs_once(self, harness: Harness) -> None:
        first = await harness.sandbox.execute("echo run | tee -a count", key=harness.key("a"))
        seen: list[Chunk] = []
        second = await harness.sandbox.execute(
            "echo run | tee -a count", key=harness.key("a"), on_output=seen.append
        )
        assert (await harness.sandbox.read_file(f"{harness.workspace}/count")) == b"run\n"
        assert first.text == second.text == "run\n"
        assert b"".join(chunk.data for chunk in seen) == b"run\n"

    async def test_the_same_key_at_once_runs_once(self, harness: Harness) -> None:
        command = "echo run >> count; sleep 0.3; echo done"
        both = await asyncio.gather(
            *(harness.sandbox.execute(command, key=harness.key("a")) for _ in range(2))
        )
        assert [result.text for result in both] == ["done\n"] * 2
        assert await harness.sandbox.read_file(f"{harness.workspace}/count") == b"run\n"

    async def test_a_key_with_other_content_is_refused(self, harness: Harness) -> None:
        await harness.sandbox.execute("echo one", key=harness.key("a"))
        with pytest.raises(errors.CommandConflict):
            await harness.sandbox.execute("echo two", key=harness.key("a"))

    async def test_two_at_once(self, harness: Harness) -> None:
        # Each waits for the other's file, so neither ends unless both run.
        one = harness.sandbox.execute(
            "touch one; until [ -e two ]; do sleep 0.01; done", key=harness.key("a")
        )
        two = harness.sandbox.execute(
            "touch two; until [ -e one ]; do sleep 0.01; done", key=harness.key("b")
        )
        assert [result.exit_code for result in await asyncio.gather(one, two)] == [0, 0]

    async def test_output_comes_while_it_runs(self, harness: Harness) -> None:
        seen: list[Chunk] = []

        def release(chunk: Chunk) -> None:
            seen.append(chunk)
            (harness.real / "go").touch()

        command = "echo first; until [ -e go ]; do sleep 0.01; done; echo last"
        result = await harness.sandbox.execute(command, key=harness.key("a"), on_output=release)
        assert result.text == "first\nlast\n"
        assert seen[0].data == b"first\n"

    async def test_much_output_is_capped_at_both_ends(self, harness: Harness) -> None:
        command = "echo BEGIN; yes 0123456789abcde | head -c 100000000; echo END"
        result = await harness.sandbox.execute(command, key=harness.key("a"), max_output_bytes=64 * 1024)
        assert result.exit_code == 0
        assert result.truncated
        kept = sum(len(chunk.data) for chunk in result.chunks)
        assert 32 * 1024 < kept <= 73 * 1024
        assert kept + result.dropped == 100_000_010
        assert result.stdout.startswith(b"BEGIN\n")
        assert result.stdout.endswith(b"END\n")
        assert [chunk.source for chunk in result.chunks].count(Source.GAP) == 1
