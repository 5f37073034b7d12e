"""Files of a run: ConfigMaps are mounted into the runner Pod by the file's index; inline ones are not its business."""

from __future__ import annotations

from typing import Any

from skerry_operator.build.runner_pod import build_runner_pod
from skerry_testing.plans import SETTINGS, a_profile, a_run


def built(*files: dict[str, Any]) -> dict[str, Any]:
    pod = build_runner_pod(a_run(files=list(files)), a_profile(), 1, "{}", SETTINGS)
    return dict(pod["spec"])


def test_config_maps_are_mounted_read_only() -> None:
    spec = built(
        {"name": "a", "inline": "x"},
        {"name": "b", "configMapKeyRef": {"name": "c", "key": "k"}},
        {"name": "d", "configMapKeyRef": {"name": "c", "key": "l"}},
    )
    (volume,) = [volume for volume in spec["volumes"] if volume["name"] == "files"]
    assert volume["projected"]["sources"] == [
        {"configMap": {"name": "c", "items": [{"key": "k", "path": "1"}]}},
        {"configMap": {"name": "c", "items": [{"key": "l", "path": "2"}]}},
    ]
    (mount,) = [mount for mount in spec["containers"][0]["volumeMounts"] if mount["name"] == "files"]
    assert mount == {"name": "files", "mountPath": "/etc/skerry/files", "readOnly": True}


def test_inline_files_need_no_volume() -> None:
    spec = built({"name": "a", "inline": "secret text"})
    assert "files" not in [volume["name"] for volume in spec["volumes"]]
    assert "files" not in [mount["name"] for mount in spec["containers"][0]["volumeMounts"]]
    assert "secret text" not in str(spec)
