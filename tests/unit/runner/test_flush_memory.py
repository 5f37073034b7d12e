"""The CronJob's process: what it reads of its environment, and its exit codes. The rest: tests/integration/runner."""

from __future__ import annotations

from pathlib import Path

import pytest

from skerry_runner.cluster.environment import BadEnvironment
from skerry_runner.flush_memory import main, read_job

POD = {
    "POD_NAMESPACE": "ns", "SKERRY_PROFILE": "p", "SKERRY_POSTGRES_DSN": "postgresql://u:secret-pass@192.0.2.1/d",
    "KUBERNETES_SERVICE_HOST": "192.0.2.9",
}  # fmt: skip


def test_what_a_pod_is_told() -> None:
    job = read_job(POD | {"SKERRY_MODEL_API_KEY": "k"})
    assert (job.namespace, job.profile, job.api_server, job.api_key) == (
        "ns",
        "p",
        "https://192.0.2.9:443",
        "k",
    )
    assert job.service_account == Path("/var/run/secrets/kubernetes.io/serviceaccount")
    assert read_job(POD).api_key is None


def test_all_that_is_missing_is_said_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in POD:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(BadEnvironment):
        read_job({})
    assert main() == 2
    said = capsys.readouterr().err
    assert all(f"{name} is not set" in said for name in POD)


def test_an_api_server_that_is_not_there_ends_it_with_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("t")
    told = {"SKERRY_API_SERVER": "http://127.0.0.1:9", "SKERRY_SERVICE_ACCOUNT": str(tmp_path)}
    for name, value in (POD | told).items():
        monkeypatch.setenv(name, value)
    assert main() == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "ApiUnavailable" in line
    assert "secret-pass" not in line
