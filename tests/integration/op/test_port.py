"""The real port against the real API server: the common promises, and what only the real one can show."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml

from skerry_operator.errors import ConfigError, Forbidden, Invalid, NotFound, Unknown
from skerry_operator.kube.aio import AioPort
from skerry_operator.kube.credentials import Credentials
from skerry_operator.kube.kinds import CONFIG_MAP, NODE, POD, RUN
from skerry_testing.apiserver import ApiServer
from skerry_testing.manifests import a_run
from skerry_testing.opworld import placed
from skerry_testing.portcontract import PROMISES, Promise


def credentials(api: ApiServer) -> Credentials:
    return Credentials(api.access.kubeconfig)


@pytest.mark.parametrize("promise", PROMISES, ids=lambda each: each.__name__)
async def test_promise(promise: Promise, api: ApiServer) -> None:
    async with AioPort(credentials(api)) as port:
        await promise(port, api.namespace)


async def test_a_list_is_read_in_chunks(api: ApiServer) -> None:
    async with AioPort(credentials(api), chunk=2) as port:
        for number in range(5):
            await port.create(RUN, api.namespace, placed(a_run(f"r{number}"), api.namespace))
        listing = await port.list(RUN, api.namespace, metadata_only=True)
        everywhere = await port.list(RUN)
    assert sorted(item["metadata"]["name"] for item in listing.items) == [f"r{number}" for number in range(5)]
    assert len(everywhere.items) >= 5


async def test_refusals_have_their_types(api: ApiServer) -> None:
    async with AioPort(credentials(api)) as port:
        with pytest.raises(Invalid, match=r"spec"):
            await port.create(RUN, api.namespace, placed(a_run("bad", prompt=...), api.namespace))
        made = await port.create(RUN, api.namespace, placed(a_run("a"), api.namespace))
        version = made["metadata"]["resourceVersion"]
        with pytest.raises(Invalid, match=r"not declared in schema"):
            await port.apply_status(RUN, api.namespace, "a", {"novel": 1}, resource_version=version)
        with pytest.raises(NotFound):
            await port.create(CONFIG_MAP, "no-such-namespace", config_map("no-such-namespace"))
        assert await port.get(NODE, "", "no-such-node") is None


async def test_a_token_of_a_kubeconfig_is_read_anew_when_it_is_refused(
    api: ApiServer, tmp_path: Path
) -> None:
    await service_account(api, "worker")
    kubeconfig = tmp_path / "kubeconfig"
    write_kubeconfig(kubeconfig, api, "not a token")
    async with AioPort(Credentials(kubeconfig)) as port:
        with pytest.raises(Unknown, match=r"Unauthorized"):
            await port.get(RUN, api.namespace, "a")
        write_kubeconfig(kubeconfig, api, await api.token_for("worker"))
        with pytest.raises(Forbidden, match=r"worker"):
            await port.get(RUN, api.namespace, "a")


async def test_a_server_that_does_not_answer_is_unknown_in_time(tmp_path: Path, api: ApiServer) -> None:
    async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()
        await writer.wait_closed()

    silent = await asyncio.start_server(swallow, "127.0.0.1", 0)
    port_number = silent.sockets[0].getsockname()[1]
    kubeconfig = tmp_path / "kubeconfig"
    write_kubeconfig(kubeconfig, api, "t", server=f"http://127.0.0.1:{port_number}")
    async with AioPort(Credentials(kubeconfig), timeout=0.3) as port:
        with pytest.raises(Unknown, match=r"no answer within 0.3 s"):
            await port.get(RUN, "ns", "a")
    silent.close()
    async with AioPort(Credentials(kubeconfig), timeout=3) as port:
        with pytest.raises(Unknown, match=r"ClientConnector"):
            await port.delete(POD, "ns", "a", uid="u")


@pytest.mark.parametrize("content", [None, "a: [", "{}", "apiVersion: v1\nkind: Config\n"])
async def test_a_bad_kubeconfig_is_a_config_error(content: str | None, tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"--kubeconfig"):
        await Credentials(path).configuration()


def config_map(namespace: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": namespace}}


async def service_account(api: ApiServer, name: str) -> None:
    await api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}})


def write_kubeconfig(path: Path, api: ApiServer, token: str, server: str = "") -> None:
    given = yaml.safe_load(api.access.kubeconfig.read_text(encoding="utf-8"))
    cluster = dict(given["clusters"][0]["cluster"])
    if server:
        cluster = {"server": server}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": token}}],
    }
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
