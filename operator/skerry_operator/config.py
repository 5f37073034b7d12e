"""The operator's configuration file (YAML or JSON, camelCase): read once at start, refused with the field's path."""

from __future__ import annotations

from datetime import timedelta
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from skerry_operator import settings
from skerry_operator.errors import ConfigError
from skerry_operator.settings import PlanSettings

__all__ = ["CONFIG_ENV", "DEFAULT_PATH", "ClusterDNS", "Config", "LeaseConfig", "load_config"]

CONFIG_ENV = "SKERRY_CONFIG"
DEFAULT_PATH = Path("/etc/skerry/operator/config.yaml")
_KEYS = Path("/etc/skerry/keys")
_NAMESPACE = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"


def _cidr(text: str) -> str:
    return str(ip_network(text))


def _address(text: str) -> str:
    return str(ip_address(text))


Cidr = Annotated[str, AfterValidator(_cidr)]
Address = Annotated[str, AfterValidator(_address)]
Namespace = Annotated[str, Field(pattern=_NAMESPACE)]
Port = Annotated[int, Field(ge=0, le=65_535)]


class _Part(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


class ClusterDNS(_Part):
    """The Pods that answer DNS, for policies with egress DNS; ports are both UDP and TCP."""

    namespace: Namespace = "kube-system"
    pod_labels: dict[str, str] = Field(default_factory=lambda: {"k8s-app": "kube-dns"})
    ports: tuple[Annotated[int, Field(ge=1, le=65_535)], ...] = (53,)


class LeaseConfig(_Part):
    """Leadership: others wait `durationSeconds`, the leader stops writing `renewSeconds` after its last renewal.

    The leader renews every `intervalSeconds`; who has not got it, or failed to renew it, tries every `retrySeconds`.
    """

    name: str = Field(default="skerry-operator", min_length=1, max_length=253)
    duration_seconds: int = Field(default=9, ge=2, le=600)
    renew_seconds: int = Field(default=6, ge=1, le=600)
    interval_seconds: float = Field(default=2, gt=0, le=600)
    retry_seconds: float = Field(default=1, gt=0, le=600)

    @model_validator(mode="after")
    def _order(self) -> LeaseConfig:
        if not max(self.interval_seconds, self.retry_seconds) < self.renew_seconds < self.duration_seconds:
            raise ValueError("intervalSeconds, retrySeconds < renewSeconds < durationSeconds is required")
        return self


class Config(_Part):
    """Everything that one operator process is told."""

    operator_namespace: Namespace
    runner_image: str = Field(min_length=1, max_length=1024)
    sandbox_image: str = Field(min_length=1, max_length=1024)
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] = "IfNotPresent"
    run_namespaces: tuple[Namespace, ...] = ()
    max_runs_per_namespace: int = Field(default=50, ge=1)
    cluster_cidrs: tuple[Cidr, ...] = Field(default=(), alias="clusterCIDRs")
    public_resolvers: tuple[Address, ...] = ("1.1.1.1", "8.8.8.8")
    api_server_cidrs: tuple[Cidr, ...] = Field(default=(), alias="apiServerCIDRs")
    cluster_dns: ClusterDNS = Field(default=ClusterDNS(), alias="clusterDNS")
    workers: int = Field(default=16, ge=1, le=256)
    resync_seconds: float = Field(default=120, gt=0, le=3600)
    request_timeout_seconds: float = Field(default=5, gt=0, le=60)
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    metrics_port: Port = 9090
    probes_port: Port = 8080
    lease: LeaseConfig = LeaseConfig()
    cancel_grace_seconds: int = Field(default=30, ge=1, le=3600)
    max_replacements: int = Field(default=3, ge=0, le=100)
    keys_directory: Path = _KEYS

    def plan_settings(self, jwks: str) -> PlanSettings:
        """The part that planners see; `jwks` holds the public halves of the operator's keys."""
        dns = self.cluster_dns
        return PlanSettings(
            runner_image=self.runner_image,
            sandbox_image=self.sandbox_image,
            image_pull_policy=self.image_pull_policy,
            max_runs_per_namespace=self.max_runs_per_namespace,
            cluster_cidrs=self.cluster_cidrs,
            public_resolvers=self.public_resolvers,
            cluster_dns=settings.ClusterDNS(dns.namespace, tuple(sorted(dns.pod_labels.items())), dns.ports),
            operator_keys=jwks,
            max_replacements=self.max_replacements,
            cancel_grace=timedelta(seconds=self.cancel_grace_seconds),
        )


def load_config(path: Path) -> Config:
    """Read and check the file; raises ConfigError with the path of the first bad field."""
    try:
        raw: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError("", f"configuration {path} cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise ConfigError("", f"configuration {path} is not YAML: {error}") from error
    if not isinstance(raw, dict):
        raise ConfigError("", f"configuration {path} must be a mapping, not {type(raw).__name__}")
    try:
        return Config.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise ConfigError(_field_path(first["loc"]), f"{first['msg']}{more}") from error


def _field_path(location: tuple[int | str, ...]) -> str:
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path
