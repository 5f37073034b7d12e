"""Pod Security `restricted`, spelled out once. Nothing here is open to change by a class or a profile."""

from __future__ import annotations

from kubernetes import client

__all__ = ["SKERRY_ID", "container_security", "pod_security"]

SKERRY_ID = 10001
"""uid and gid of all our processes; the images know it too."""


def pod_security() -> client.V1PodSecurityContext:
    return client.V1PodSecurityContext(
        run_as_non_root=True,
        run_as_user=SKERRY_ID,
        run_as_group=SKERRY_ID,
        fs_group=SKERRY_ID,
        seccomp_profile=client.V1SeccompProfile(type="RuntimeDefault"),
    )


def container_security() -> client.V1SecurityContext:
    return client.V1SecurityContext(
        allow_privilege_escalation=False,
        privileged=False,
        read_only_root_filesystem=True,
        run_as_non_root=True,
        capabilities=client.V1Capabilities(drop=["ALL"]),
        seccomp_profile=client.V1SeccompProfile(type="RuntimeDefault"),
    )
