"""Only what is missing is installed."""

from __future__ import annotations

import pytest

from skerry_devcluster.packages import CONTROL_PLANE, FULL, missing_packages

NEEDS = {"ip": "iproute2", "nsenter": "util-linux", "unshare": "util-linux", "/usr/lib/cni/ptp": "plugins"}


@pytest.mark.parametrize(
    ("present", "missing"),
    [
        (set(NEEDS), []),
        (set(), ["iproute2", "plugins", "util-linux"]),
        ({"ip", "unshare", "/usr/lib/cni/ptp"}, ["util-linux"]),
    ],
)
def test_missing(present: set[str], missing: list[str]) -> None:
    assert missing_packages(NEEDS, present.__contains__) == missing


def test_a_full_cluster_needs_all_that_a_control_plane_needs() -> None:
    assert CONTROL_PLANE.items() <= FULL.items()
