"""Running programs to their end."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from skerry_devcluster.errors import CommandError, UsageError
from skerry_devcluster.locks import held

__all__ = ["SYSTEM_PATH", "run", "which"]

# Root's tools may be missing from an ordinary login's PATH.
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def which(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}")


def run(
    argv: Sequence[str],
    *,
    text_in: str | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> str:
    """Standard output of a program.

    Raises:
        CommandError: it exits with another code than 0.
        UsageError: it is not installed.
    """
    program = argv[0] if "/" in argv[0] else which(argv[0])
    if program is None:
        raise UsageError(f"{argv[0]} is not installed")
    done = subprocess.run(
        [program, *argv[1:]],
        input=text_in,
        stdin=subprocess.DEVNULL if text_in is None else None,
        capture_output=True,
        text=True,
        env=env,
        cwd=cwd,
        pass_fds=held(),
        check=False,
    )
    if done.returncode:
        raise CommandError(argv, done.returncode, done.stderr or done.stdout)
    return done.stdout
