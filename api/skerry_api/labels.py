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
    OPERATOR_MADE = "skerry.dev/operator-made"
    """On Sandboxes that the operator made and may delete."""


class Component(StrEnum):
    """Values of the component label."""

    OPERATOR = "operator"
    RUNNER = "runner"
    SANDBOX = "sandbox"


class Annotation(StrEnum):
    DOCUMENT = "skerry.dev/document"
    """The resolved run document, mounted by the downward API."""
    TEMPLATE_HASH = "skerry.dev/template-hash"
