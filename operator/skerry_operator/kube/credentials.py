"""How to reach the API server: a kubeconfig or the Pod's own ServiceAccount, for our client and for kopf alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import yaml
from kubernetes.aio.client.configuration import Configuration
from kubernetes.aio.config.config_exception import ConfigException
from kubernetes.aio.config.incluster_config import load_incluster_config
from kubernetes.aio.config.kube_config import load_kube_config

from skerry_operator.errors import ConfigError

__all__ = ["Credentials", "Login"]


@dataclass(frozen=True)
class Login:
    """What a client needs to connect; `scheme` and `token` make the Authorization header, empty without one."""

    server: str
    ca_path: str | None
    verify: bool
    scheme: str
    token: str = field(repr=False)
    certificate_path: str | None
    key_path: str | None
    proxy: str | None


@dataclass(frozen=True)
class Credentials:
    """Where credentials come from; nothing secret is kept here."""

    kubeconfig: Path | None = None
    context: str | None = None

    async def configuration(self) -> Configuration:
        """Read anew at each call, with the library's own retries off. Raises ConfigError when there are none to be had."""
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

    async def login(self) -> Login:
        """The same for other clients. Raises ConfigError."""
        found = await self.configuration()
        scheme, _, token = str(found.api_key.get("BearerToken", "")).partition(" ")
        return Login(
            server=found.host,
            ca_path=found.ssl_ca_cert,
            verify=bool(found.verify_ssl),
            scheme=scheme.capitalize(),
            token=token.strip(),
            certificate_path=found.cert_file,
            key_path=found.key_file,
            proxy=found.proxy,
        )
