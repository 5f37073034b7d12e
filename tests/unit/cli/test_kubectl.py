"""What is said when kubectl fails."""

from __future__ import annotations

import pytest

from skerry_cli.kubectl import Kubectl, KubectlError

_KLOG = "E1130 22:00:00.123456   12 memcache.go:265] couldn't get the list"
_NOWHERE = "no cluster is configured: set KUBECONFIG or give --context"


@pytest.mark.parametrize(
    ("stderr", "said"),
    [
        (f"{_KLOG}: http://localhost:8080/api\nThe connection to the server localhost:8080 was refused", _NOWHERE),
        ("error: invalid configuration: no configuration has been provided", _NOWHERE),
        (f"{_KLOG}\nUnable to connect to the server: EOF", "Unable to connect to the server: EOF"),
        (_KLOG, _KLOG),
        ("", "kubectl failed without a word"),
    ],
)  # fmt: skip
async def test_only_what_matters_is_said(stderr: str, said: str) -> None:
    kubectl = Kubectl(("/bin/sh", "-c", 'printf "%s" "$0" >&2; exit 1', stderr))
    with pytest.raises(KubectlError) as failed:
        await kubectl.text("get")
    assert str(failed.value) == said
