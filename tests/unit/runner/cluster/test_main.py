"""The process itself: how it starts, and how it refuses to. Whole epochs are in tests/integration/runner."""

from __future__ import annotations

import json
import logging
import subprocess
import sys

import pytest

from skerry_runner.cluster.logs import JsonFormatter


def test_outside_a_runner_pod_it_says_what_is_missing() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "skerry_runner"],
        env={},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("skerry_runner runs in a runner Pod: POD_NAME is not set; ")


@pytest.mark.parametrize("module", ["langchain", "langchain_core", "langgraph", "kubernetes", "openai"])
def test_signals_are_heard_before_anything_heavy_is_imported(module: str) -> None:
    code = f"import sys, skerry_runner.__main__; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_log_line_is_one_json_object() -> None:
    fault = ValueError("two\nlines")
    trace = (ValueError, fault, None)
    record = logging.LogRecord("a.b", logging.ERROR, __file__, 1, "it %s", ("broke",), trace)
    line = JsonFormatter().format(record)
    assert "\n" not in line
    told = json.loads(line)
    assert (told["level"], told["logger"], told["message"]) == ("error", "a.b", "it broke")
    assert "ValueError" in told["trace"]
