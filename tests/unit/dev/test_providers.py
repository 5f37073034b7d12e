"""Packages of model providers: extras of ours, locked together with the runner's own pins."""

from __future__ import annotations

import re
import tomllib

from images.specs import IMAGES, ROOT, spec_of
from skerry_runner.models.build import _EXTRAS


def pins(lock: str) -> dict[str, str]:
    text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9.-]+)(?:\[[^]]*\])?==(\S+)", text, re.MULTILINE))


def test_the_providers_lock_holds_the_runners_own_pins_and_the_packages() -> None:
    own, more = pins("runner.txt"), pins("runner-providers.txt")
    assert len(own) > 50
    assert own.items() <= more.items()
    assert {"langchain-anthropic", "langchain-google-genai"} <= more.keys() - own.keys()


def test_every_pin_has_its_hash_and_no_host_is_named() -> None:
    text = (ROOT / "requirements" / "runner-providers.txt").read_text(encoding="utf-8")
    blocks = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(blocks) == len(pins("runner-providers.txt"))
    assert all("--hash=sha256:" in block for block in blocks)
    assert "://" not in text


def test_the_extras_that_errors_name_are_there() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(_EXTRAS.values()) <= project["optional-dependencies"].keys()


def test_only_the_runner_has_another_lock() -> None:
    for name, spec in IMAGES.items():
        assert spec_of(name) is spec
        assert (spec_of(name, providers=True) != spec) is (name == "runner")
    assert spec_of("runner", providers=True).lock_file.is_file()


def test_every_image_is_refused_when_a_library_is_missing() -> None:
    for spec in IMAGES.values():
        (check,) = [
            line for line in spec.dockerfile.read_text(encoding="utf-8").splitlines() if "ldd" in line
        ]
        assert check.startswith("RUN ! find /opt/skerry/lib")
        assert check.endswith("| grep 'not found'")
