"""Labels, annotations, paths and environment names that more than one part of Skerry must agree on."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["MANAGED_BY", "Annotation", "Component", "Label"]

MANAGED_BY = "skerry"


class Label(StrEnum):
    MANAGED_BY = "app.kubernetes.io/managed-by"
    COMPONENT = "skerry.dev/component"
    RUN_UID = "skerry.dev/run-uid"
    RUN = "skerry.dev/run"
    EPOCH = "skerry.dev/epoch"
    SANDBOX = "skerry.dev/sandbox"
    PROFILE = "skerry.dev/profile"
    """Hash label of a profile's name (names may be longer than label values)."""
    CLASS = "skerry.dev/class"
    """Hash label of a class's name."""
    PERSISTENCE = "skerry.dev/persistence"
    """On runner Pods: the type of persistence that their epoch has."""
    OPERATOR_MADE = "skerry.dev/operator-made"
    """On Sandboxes that the operator made and may delete."""


class Component(StrEnum):
    """Values of the component label."""

    OPERATOR = "operator"
    RUNNER = "runner"
    SANDBOX = "sandbox"
    STATE = "state"
    """Volumes with the state of threads."""


class Annotation(StrEnum):
    DOCUMENT = "skerry.dev/document"
    """The resolved run document, mounted by the downward API."""
    UNUSED_SINCE = "skerry.dev/unused-since"
    """On a thread's volume: when its last run ended (RFC 3339); absent while a run uses it."""
    RETENTION = "skerry.dev/retention-seconds"
    """On a thread's volume: how long it is kept unused."""
    EXPIRED = "skerry.dev/expired"
    """On a thread's volume: it is being deleted, and no run uses it any more."""
    TEMPLATE_HASH = "skerry.dev/template-hash"
