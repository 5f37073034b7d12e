"""Files of the own run: inline and mounted ones, and what is told when one is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from skerry_api.document import RunDocument
from skerry_api.phases import OutcomeClass
from skerry_api.report import Outcome
from skerry_runner.cluster.givenfiles import UnreadableFiles, read_files
from skerry_runner.ports import Ports, RunResult
from skerry_testing.runnerpod import Pod

REF = {"name": "b", "configMapKeyRef": {"name": "c", "key": "k"}}


def test_inline_and_mounted_files(tmp_path: Path) -> None:
    (tmp_path / "1").write_bytes(b"\0\xff")
    spec = {"files": [{"name": "a", "inline": "é"}, REF, {"name": "e", "inline": ""}]}
    files = read_files(spec, tmp_path)
    assert [(file.name, file.data) for file in files] == [("a", "é".encode()), ("b", b"\0\xff"), ("e", b"")]


def test_a_run_without_files(tmp_path: Path) -> None:
    assert read_files({}, tmp_path / "none") == ()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"files": [REF]}, r"spec.files\[0\].configMapKeyRef: k of ConfigMap c can't be read: No such file"),
        ({"files": [{"name": "../x", "inline": ""}]}, "spec.files: "),
        ({"files": 5}, "spec.files: "),
    ],
)
def test_what_can_not_be_had_is_told_by_its_field(
    tmp_path: Path, spec: dict[str, object], message: str
) -> None:
    with pytest.raises(UnreadableFiles, match=message):
        read_files(spec, tmp_path)


async def test_a_session_hands_them_on(pod: Pod) -> None:
    seen: list[Ports] = []

    async def core(_: RunDocument, ports: Ports) -> RunResult:
        seen.append(ports)
        result = RunResult(outcome=Outcome(class_=OutcomeClass.SUCCEEDED))
        await ports.reporter.started()
        await ports.reporter.ended(result)
        return result

    await pod.port.patch_spec(files=[{"name": "a", "inline": "x"}])
    assert (await pod.session(core).run()).class_ is OutcomeClass.SUCCEEDED
    assert [(file.name, file.data) for file in seen[0].files] == [("a", b"x")]


async def test_a_missing_file_ends_the_run_with_its_path(pod: Pod) -> None:
    async def core(_: RunDocument, __: Ports) -> RunResult:
        raise AssertionError

    await pod.port.patch_spec(files=[REF])
    outcome = await pod.session(core).run()
    assert (outcome.class_, outcome.reason) == (OutcomeClass.INVALID_SPEC, "InvalidFiles")
    assert outcome.message.startswith("spec.files[0].configMapKeyRef: ")
