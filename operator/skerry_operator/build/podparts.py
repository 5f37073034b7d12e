"""Small parts of Pods: volumes, environment, resources."""

from __future__ import annotations

from kubernetes import client

from skerry_api.common import Resources

__all__ = ["empty_dir", "field_env", "field_path", "literal_env", "mount", "resources"]


def literal_env(name: str, value: str) -> client.V1EnvVar:
    return client.V1EnvVar(name=name, value=value)


def field_env(name: str, path: str) -> client.V1EnvVar:
    """A variable from the Pod's own fields (downward API)."""
    return client.V1EnvVar(name=name, value_from=client.V1EnvVarSource(field_ref=field_path(path)))


def field_path(path: str) -> client.V1ObjectFieldSelector:
    return client.V1ObjectFieldSelector(field_path=path)


def empty_dir(name: str, size: str) -> client.V1Volume:
    return client.V1Volume(name=name, empty_dir=client.V1EmptyDirVolumeSource(size_limit=size))


def mount(name: str, path: str, *, read_only: bool = False) -> client.V1VolumeMount:
    return client.V1VolumeMount(name=name, mount_path=path, read_only=read_only or None)


def resources(given: Resources | None, default: Resources) -> client.V1ResourceRequirements:
    """As given; what is not given is the default's, fitted to it, so that every limit stands."""
    wanted = given or default
    requests, limits = wanted.requests or {}, wanted.limits or {}
    full = {name: _larger(amount, requests.get(name)) for name, amount in (default.limits or {}).items()}
    full |= limits
    least = {name: _smaller(amount, full.get(name)) for name, amount in (default.requests or {}).items()}
    return client.V1ResourceRequirements(requests=least | requests, limits=full)


def _larger(amount: str, other: str | None) -> str:
    return other if other is not None and quantity(other) > quantity(amount) else amount


def _smaller(amount: str, other: str | None) -> str:
    return other if other is not None and quantity(other) < quantity(amount) else amount


def quantity(text: str) -> float:
    """Value of a Kubernetes quantity of the form that our schema allows."""
    suffixes = {
        "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
        "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50, "Ei": 2.0**60,
    }  # fmt: skip
    for suffix in sorted(suffixes, key=len, reverse=True):
        if text.endswith(suffix):
            return float(text.removesuffix(suffix)) * suffixes[suffix]
    return float(text)
