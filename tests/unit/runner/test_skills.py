"""Skills as data: what a ConfigMap makes, and what stands in the sandbox."""

from __future__ import annotations

import pytest

from skerry_runner.skills import DESCRIPTION_MAX, Skill, files_of


def described(text: str) -> str:
    return Skill.of("x", {"SKILL.md": text.encode()}).description


def test_a_config_map_makes_a_skill() -> None:
    skill = Skill.of("pdf", {"SKILL.md": "é".encode(), "logo.png": b"\0\xff"})
    assert (skill.text, skill.files, skill.path) == ("é", {"logo.png": b"\0\xff"}, "/mnt/skills/pdf/SKILL.md")


def test_nothing_of_an_unreadable_one_is_lost() -> None:
    skill = Skill.of("pdf", {"SKILL.md": b"\xff", "a": b""})
    assert skill.text is None
    assert files_of([skill]) == {"pdf/SKILL.md": b"\xff", "pdf/a": b""}


def test_what_is_switched_off_is_not_in_the_sandbox() -> None:
    skills = [Skill("a", "x"), Skill("off", "y", enabled=False), Skill.of("b", {"SKILL.md": b"z", "k": b"v"})]
    assert files_of(skills) == {"a/SKILL.md": b"x", "b/k": b"v", "b/SKILL.md": b"z"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("---\nname: pdf\ndescription: Fill in\n  forms.\n---\n# PDF", "Fill in forms."),
        ("---\ndescription: 5\n---\n", ""),
        ("---\n- a\n---\n", ""),
        ("---\ndescription: [\n---\n", ""),
        ("---\ndescription: x\n", ""),
        ("description: x\n---\n", ""),
        ("# PDF", ""),
        ("---\ndescription: " + "x" * 5000 + "\n---\n", "x" * DESCRIPTION_MAX),
    ],
)
def test_the_description_stands_in_the_front_matter(text: str, words: str) -> None:
    assert described(text) == words


def test_front_matter_that_is_a_bomb_is_none() -> None:
    lines = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]" for n in range(30))
    assert described(f"---\n{lines}\ndescription: boom\n---\n") == "boom"
    assert described("---\n" + "[" * 5000 + "\n---\n") == ""
