from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from skerry_runner.local.threads import ThreadBusy, default_data_dir, held_thread, thread_folder

HOLD = """
import sys
from pathlib import Path
from skerry_runner.local.threads import held_thread
with held_thread(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, "/h/.local/share/skerry"),
        ({"XDG_DATA_HOME": "/data"}, "/data/skerry"),
        ({"XDG_DATA_HOME": "relative"}, "/h/.local/share/skerry"),
    ],
)
def test_the_data_directory_follows_xdg(env: dict[str, str], expected: str) -> None:
    assert default_data_dir(env, Path("/h")) == Path(expected)


def test_a_thread_is_held_by_one_process_and_let_go_when_it_is_killed(tmp_path: Path) -> None:
    folder = thread_folder(tmp_path, "sbx-1")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(ThreadBusy, match=f"process {other.pid}"), held_thread(folder):
            pass
        with held_thread(thread_folder(tmp_path, "sbx-2")):
            pass
        other.kill()
        other.wait()
    with held_thread(folder):
        assert (folder / "lock").read_text() == str(os.getpid())
