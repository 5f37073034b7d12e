"""bash: run a command in the sandbox's workspace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from langchain_core.tools import tool
from pydantic import Field

from skerry_runner.paths import WORKSPACE
from skerry_runner.sandbox.errors import CommandTimeout
from skerry_runner.sandbox.types import Chunk, ExecResult, Source
from skerry_runner.tools.call import Runtime, context_of, sandbox_call
from skerry_runner.tools.errors import ToolFailure
from skerry_runner.tools.text import cut_middle, decode

__all__ = ["bash", "how_ended", "render_output", "render_result"]


def render_output(chunks: Sequence[Chunk]) -> str:
    """Both streams in order of arrival; a character split between chunks of one stream stays whole."""
    raw = b"".join(
        f"\n[{chunk.dropped} bytes of output omitted]\n".encode()
        if chunk.source is Source.GAP
        else chunk.data
        for chunk in chunks
    )
    return decode(raw)


def how_ended(result: ExecResult, seconds: float) -> str | None:
    """Why the command did not end by itself; None if it did."""
    if result.timed_out:
        return f"the command was ended after its timeout of {seconds:g} s"
    if result.killed or result.signal is not None:
        return f"the command was ended by {result.signal or 'a kill'}"
    return None


def render_result(result: ExecResult, limit: int) -> str:
    """What the model reads: the output, cut in the middle, and the exit code unless it is 0."""
    output = render_output(result.chunks).rstrip("\n")
    if result.exit_code:
        note = f"Exit Code: {result.exit_code}"
        room = max(1, limit - len(note) - 1) if limit > 0 else 0
        return f"{cut_middle(output, room)}\n{note}" if output else note
    return cut_middle(output, limit) if output.strip() else "(no output)"


@tool("bash")
async def bash(
    command: Annotated[str, Field(min_length=1, description="The command, run by `bash -c`.")],
    runtime: Runtime,
    description: Annotated[str, Field(description="Why you run it, in a few words.")] = "",  # noqa: ARG001 - for whoever reads the journal
    timeout_seconds: Annotated[
        int | None, Field(ge=1, description="When to give up on it; 600 if absent.")
    ] = None,
) -> str:
    """Run a shell command in the sandbox and return what it prints. It starts in /mnt/user-data/workspace.

    Files live below /mnt/user-data: workspace to work in, uploads (given to you), outputs (results for the user).
    Each call is a shell of its own: directories and variables do not carry over. Of long output you get the two ends.
    """
    limits = context_of(runtime).tools
    seconds = min(timeout_seconds or limits.bash_seconds, limits.bash_seconds_max)
    async with sandbox_call(runtime) as call:
        try:
            result = await call.sandbox.execute(
                command, key=call.key(), cwd=WORKSPACE, timeout_seconds=seconds
            )
        except CommandTimeout as error:
            raise _failure(str(error), error.chunks, limits.bash_chars) from error
    if ended := how_ended(result, seconds):
        raise _failure(ended, result.chunks, limits.bash_chars)
    return render_result(result, limits.bash_chars)


def _failure(reason: str, chunks: Sequence[Chunk], limit: int) -> ToolFailure:
    output = cut_middle(render_output(chunks).rstrip("\n"), limit)
    return ToolFailure(f"{reason}; its output so far:\n{output}" if output else f"{reason}, without output")
