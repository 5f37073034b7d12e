"""How to reach the API server: a kubeconfig or the Pod's own ServiceAccount, once for our client and once for kopf."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import kopf
import yaml
from kubernetes.aio.client.configuration import Configuration
from kubernetes.aio.config.config_exception import ConfigException
from kubernetes.aio.config.incluster_config import load_incluster_config
from kubernetes.aio.config.kube_config import load_kube_config

from skerry_operator.errors import ConfigError

__all__ = ["Credentials"]

_RELOGIN = timedelta(minutes=5)


@dataclass(frozen=True)
class Credentials:
    """Where credentials come from; nothing secret is kept here. Both forms read them anew when asked."""

    kubeconfig: Path | None = None
    context: str | None = None

    async def configuration(self) -> Configuration:
        """For kubernetes.aio, with its own retries off. Raises ConfigError when there are none to be had."""
        configuration = Configuration(client_session_kwargs={"trust_env": False}, retries=None)
        try:
            if self.kubeconfig is not None:
                if not self.kubeconfig.is_file():
                    raise ConfigError("--kubeconfig", f"no such file: {self.kubeconfig}")
                await load_kube_config(  # type: ignore[no-untyped-call]  # the library's
                    str(self.kubeconfig), self.context, configuration, persist_config=False
                )
            else:
                load_incluster_config(configuration)  # type: ignore[no-untyped-call]  # sets a hook that re-reads the token every minute
        except ConfigException as error:
            where = "--kubeconfig" if self.kubeconfig else "in-cluster credentials"
            raise ConfigError(where, str(error)) from error
        except (OSError, yaml.YAMLError) as error:
            raise ConfigError("--kubeconfig", f"cannot be read: {error}") from error
        return configuration

    async def for_kopf(self, now: datetime | None = None) -> kopf.ConnectionInfo:
        """For kopf's watches; expires in minutes, so that a rotated token is read before the old one ends."""
        configuration = await self.configuration()
        scheme, _, token = str(configuration.api_key.get("BearerToken", "")).partition(" ")
        return kopf.ConnectionInfo(
            server=configuration.host,
            ca_path=configuration.ssl_ca_cert,
            insecure=not configuration.verify_ssl,
            scheme=scheme.capitalize() or None,
            token=token.strip() or None,
            certificate_path=configuration.cert_file,
            private_key_path=configuration.key_file,
            proxy_url=configuration.proxy,
            expiration=(now or datetime.now(UTC)) + _RELOGIN if token else None,
        )
