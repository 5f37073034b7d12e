"""The command line: exit codes and words, before anything is reached."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from skerry_api.keys import SigningKey
from skerry_operator.__main__ import identity_of

GOOD = "operatorNamespace: ns\nrunnerImage: r\nsandboxImage: s\nprobesPort: 0\nmetricsPort: 0\n"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "skerry_operator", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("workers: 3\n", "operatorNamespace: Field required"),
        (GOOD + "lease: {retrySeconds: x}\n", "lease.retrySeconds: "),
        (GOOD + "keysDirectory: /no/such\n", "keysDirectory: /no/such/current.pem is missing"),
    ],
)
def test_a_bad_configuration_is_told_in_one_line_with_exit_code_2(
    text: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text, encoding="utf-8")
    answer = run("--config", str(path))
    assert answer.returncode == 2
    assert answer.stderr.startswith("skerry-operator: ")
    assert words in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


def test_a_missing_kubeconfig_is_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / "current.pem").write_text(SigningKey.generate().to_pem(), encoding="ascii")
    path = tmp_path / "config.yaml"
    path.write_text(GOOD + f"keysDirectory: {tmp_path}\n", encoding="utf-8")
    answer = run("--config", str(path), "--kubeconfig", str(tmp_path / "none"))
    assert answer.returncode == 2
    assert "--kubeconfig: no such file" in answer.stderr


def test_a_restarted_container_contends_under_the_same_name() -> None:
    pod = {"POD_NAME": "skerry-operator-abc", "POD_UID": "u-1"}
    assert identity_of(pod, "1") == identity_of(pod, "2") == "skerry-operator-abc_u-1"
    assert identity_of({}, "1") != identity_of({}, "2")
    assert identity_of({"POD_NAME": "only"}, "1").endswith("_1")
