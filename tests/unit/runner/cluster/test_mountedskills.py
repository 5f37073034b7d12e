"""Skills in a runner Pod, as a mounted ConfigMap shows them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skerry_api.document import DocumentSkill, RunDocument
from skerry_api.phases import OutcomeClass
from skerry_runner.cluster.mountedskills import UnreadableSkill, read_skills
from skerry_runner.ports import Ports, RunResult
from skerry_runner.skills import Skill
from skerry_testing.runnerpod import DOCUMENT, Pod


def mounted(root: Path, name: str, **files: bytes) -> None:
    """As the kubelet writes it: names are links into `..data`, which is one to the newest version."""
    version = root / name / "..2026_01_02"
    version.mkdir(parents=True)
    (root / name / "..data").symlink_to(version.name)
    for file, data in files.items():
        real = file.replace("_", ".")
        (version / real).write_bytes(data)
        (root / name / real).symlink_to(f"..data/{real}")


def test_skills_are_read_and_those_switched_off_are_known(tmp_path: Path) -> None:
    mounted(tmp_path, "pdf", SKILL_md=b"# PDF", logo_png=b"\xff")
    skills = (DocumentSkill(name="pdf"), DocumentSkill(name="off", enabled=False))
    assert read_skills(skills, tmp_path) == (
        Skill("pdf", "# PDF", files={"logo.png": b"\xff"}), Skill("off", None, enabled=False),
    )  # fmt: skip


def test_a_profile_without_skills_needs_no_mount(tmp_path: Path) -> None:
    assert read_skills((), tmp_path / "none") == ()


def test_what_is_not_mounted_is_told_by_name(tmp_path: Path) -> None:
    with pytest.raises(UnreadableSkill, match="skill pdf: its ConfigMap can't be read: No such file"):
        read_skills([DocumentSkill(name="pdf")], tmp_path)
    mounted(tmp_path, "pdf", README_md=b"")
    with pytest.raises(UnreadableSkill, match=r"skill pdf: its ConfigMap has no key SKILL\.md"):
        read_skills([DocumentSkill(name="pdf")], tmp_path)


async def test_a_missing_one_ends_the_run_with_its_name(pod: Pod) -> None:
    async def core(_: RunDocument, __: Ports) -> RunResult:
        raise AssertionError

    pod.write(json.dumps(DOCUMENT | {"skills": [{"name": "pdf"}]}))
    outcome = await pod.session(core).run()
    assert (outcome.class_, outcome.reason) == (OutcomeClass.INVALID_SPEC, "InvalidSkills")
    assert outcome.message.startswith("skill pdf: its ConfigMap can't be read")
