"""Every derived name, in one place. Pure functions: the same input gives the same name for ever."""

from __future__ import annotations

import hashlib

__all__ = [
    "RESERVED_SKILLS", "class_policy_name", "hash_label", "profile_policy_name", "runner_pod_name", "sandbox_id",
    "state_volume_name",
]  # fmt: skip

RESERVED_SKILLS = frozenset({"bootstrap", "goal", "help", "memory", "models", "new", "status"})
"""Words that front ends take for commands of their own: to an agent `/WORD` is plain text."""


def _digest(*parts: str) -> str:
    # Length-prefixed: no two tuples of parts share an encoding.
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joined.encode()).hexdigest()


def hash_label(value: str) -> str:
    """A label value (≤63 characters) for a text of any length."""
    return _digest(value)[:32]


def sandbox_id(namespace: str, user_id: str, thread_id: str) -> str:
    """Name of the Sandbox, and of its Pod, of a thread."""
    return f"sbx-{_digest(namespace, user_id, thread_id)[:20]}"


def state_volume_name(sandbox: str) -> str:
    """Name of the PersistentVolumeClaim with a thread's state, from the thread's sandboxId."""
    return f"state-{sandbox.removeprefix('sbx-')}"


def runner_pod_name(run: str, epoch: int) -> str:
    """Name of the runner Pod of an epoch; run names are ≤52 characters, so it fits a label."""
    return f"{run}-{epoch}"


def class_policy_name(sandbox_class: str) -> str:
    """Name of the NetworkPolicy of a SandboxClass's Pods."""
    return f"skerry-class-{hash_label(sandbox_class)[:20]}"


def profile_policy_name(profile: str) -> str:
    """Name of the NetworkPolicy that holds a profile's `runner.network.allow`."""
    return f"skerry-profile-{hash_label(profile)[:20]}"
