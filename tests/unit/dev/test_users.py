"""Who brings up what several processes share, and whose turn it is; with real processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from skerry_testing.users import shared, turn

SUPPORT = Path(__file__).parents[2] / "support"
JOIN = """
import sys; sys.path.insert(0, sys.argv[1])
from pathlib import Path
from skerry_testing.users import shared
with shared(Path(sys.argv[2]), lambda first: first, lambda: print("down", flush=True)) as first:
    print(first, flush=True)
    input()
"""
TURN = """
import sys; sys.path.insert(0, sys.argv[1])
from pathlib import Path
from skerry_testing.users import turn
print("asks", flush=True)
with turn(Path(sys.argv[2]), alone=sys.argv[3] == "alone"):
    print("has it", flush=True)
"""


def _process(code: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, str(SUPPORT), *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _says(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def test_the_first_is_told_so_and_the_last_takes_it_down(tmp_path: Path) -> None:
    with _process(JOIN, str(tmp_path)) as one:
        assert _says(one) == "True"
        with _process(JOIN, str(tmp_path)) as two:
            assert _says(two) == "False"
            assert one.communicate("\n")[0] == ""
            assert two.communicate("\n")[0] == "down\n"
    with shared(tmp_path, lambda first: first, lambda: None) as first:
        assert first


def test_whoever_comes_after_a_killed_one_is_first(tmp_path: Path) -> None:
    with _process(JOIN, str(tmp_path)) as one:
        assert _says(one) == "True"
        one.kill()
    with shared(tmp_path, lambda first: first, lambda: None) as first:
        assert first


@pytest.mark.parametrize(("mine", "theirs"), [(False, "alone"), (True, "alone"), (True, "beside")])
def test_alone_means_that_others_wait(tmp_path: Path, mine: bool, theirs: str) -> None:
    with turn(tmp_path, alone=mine):
        other = _process(TURN, str(tmp_path), theirs)
        assert _says(other) == "asks"
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(0.3)
    assert other.communicate()[0] == "has it\n"
    assert other.returncode == 0


def test_the_rest_go_side_by_side(tmp_path: Path) -> None:
    with turn(tmp_path, alone=False), _process(TURN, str(tmp_path), "beside") as other:
        assert other.communicate()[0] == "asks\nhas it\n"
