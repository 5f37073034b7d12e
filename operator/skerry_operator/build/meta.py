"""What every object that we build shares: owners, hashes, the JSON form."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from kubernetes import client
from pydantic import BaseModel

from skerry_api.base import API_VERSION, KubeObject
from skerry_api.labels import MANAGED_BY, Component, Label

__all__ = ["component_labels", "content_hash", "owner", "wire"]


def wire(model: BaseModel) -> dict[str, Any]:
    """The JSON form of a kubernetes.client model (`exclude_defaults` would lose apiVersion and kind)."""
    return model.model_dump(by_alias=True, exclude_none=True, mode="json")


def owner(of: KubeObject) -> client.V1OwnerReference:
    """A controller reference to one of our objects: what it owns is collected with it."""
    return client.V1OwnerReference(
        api_version=API_VERSION,
        kind=of.kind,
        name=of.metadata.name,
        uid=of.metadata.uid,
        controller=True,
        # Nobody deletes in the foreground here, and blocking would need a verb on finalizers.
        block_owner_deletion=False,
    )


def component_labels(component: Component) -> dict[str, str]:
    return {Label.MANAGED_BY.value: MANAGED_BY, Label.COMPONENT.value: component.value}


def content_hash(content: dict[str, Any]) -> str:
    """A short name for a JSON object's content, independent of the order of its keys."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]
