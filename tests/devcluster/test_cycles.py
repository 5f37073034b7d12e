"""Up and down, again and again, leave the machine as it was."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Instance, Machine

pytestmark = [pytest.mark.devcluster, pytest.mark.timeout(1800)]
CYCLES = int(os.environ.get("SKERRY_DEVCLUSTER_CYCLES", "4"))
FULL_CYCLES = int(os.environ.get("SKERRY_DEVCLUSTER_FULL_CYCLES", "2"))


@pytest.mark.parametrize(("options", "cycles"), [(["--control-plane-only"], CYCLES), ([], FULL_CYCLES)])
def test_nothing_is_left(
    instance: Instance, machine: Callable[[], Machine], options: list[str], cycles: int
) -> None:
    before = machine()
    for cycle in range(cycles):
        instance.run("up", *options)
        namespace = instance.network_namespace()
        assert len(instance.traces(namespace)) >= 2, (
            "the signs that are looked for must be there while it is up"
        )
        # in turn with kept data and with none
        instance.run("down", *(["--wipe"] if cycle % 2 else []))
        assert instance.traces(namespace) == []
        assert machine() == before
        assert not instance.paths.run.exists()
        assert instance.paths.state.exists() is (cycle % 2 == 0)
