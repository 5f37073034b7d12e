"""Keys of the work queue."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from typing_extensions import override

__all__ = ["Key", "Topic", "lane", "queue_key", "run_key", "sandbox_key", "volumes_key"]


class Topic(StrEnum):
    RUN = "run"
    SANDBOX = "sandbox"
    QUEUE = "queue"
    """Admission of a namespace; the name is empty."""
    VOLUMES = "volumes"
    """Volumes of a namespace's threads; the name is empty."""


@dataclass(frozen=True, slots=True)
class Key:
    topic: Topic
    namespace: str
    name: str

    @override
    def __str__(self) -> str:
        return f"{self.topic}/{self.namespace}/{self.name}".rstrip("/")


def run_key(namespace: str, name: str) -> Key:
    return Key(Topic.RUN, namespace, name)


def sandbox_key(namespace: str, name: str) -> Key:
    return Key(Topic.SANDBOX, namespace, name)


def queue_key(namespace: str) -> Key:
    return Key(Topic.QUEUE, namespace, "")


def volumes_key(namespace: str) -> Key:
    return Key(Topic.VOLUMES, namespace, "")


def lane(key: Key) -> str:
    """Namespaces take turns."""
    return key.namespace
