"""Keys and certificates of an instance, made once with the openssl program."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from skerry_devcluster.commands import run
from skerry_devcluster.slots import Slot

__all__ = ["NODE", "Certificate", "certificates", "ensure_pki", "kubeconfig"]

NODE = "node"
_DAYS = "3650"
_AUTHORITIES = ("ca", "front-proxy-ca")


@dataclass(frozen=True)
class Certificate:
    """What one certificate says. `subject` in openssl's form, `names` as subjectAltName."""

    name: str
    subject: str
    usage: str
    names: tuple[str, ...] = ()
    authority: str = "ca"


def certificates(slot: Slot) -> tuple[Certificate, ...]:
    """Everything but the two authorities and the ServiceAccount key."""
    services = (
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
    )
    api = (
        *(f"DNS:{name}" for name in (*services, "localhost")),
        *(f"IP:{address}" for address in (slot.api_service, slot.node_address, "127.0.0.1")),
    )
    client, server = "clientAuth", "serverAuth"
    return (
        Certificate("kube-apiserver", "/CN=kube-apiserver", server, api),
        Certificate(
            "kube-apiserver-kubelet-client", "/O=system:masters/CN=kube-apiserver-kubelet-client", client
        ),
        Certificate("front-proxy-client", "/CN=front-proxy-client", client, authority="front-proxy-ca"),
        Certificate("admin", "/O=system:masters/CN=admin", client),
        Certificate("kube-controller-manager", "/CN=system:kube-controller-manager", client),
        Certificate("kube-scheduler", "/CN=system:kube-scheduler", client),
        Certificate("kube-proxy", "/CN=system:kube-proxy", client),
        Certificate("kubelet", f"/O=system:nodes/CN=system:node:{NODE}", client),
        Certificate("kubelet-server", f"/CN={NODE}", server, (f"DNS:{NODE}", f"IP:{slot.node_address}")),
    )


def ensure_pki(directory: Path, slot: Slot) -> None:
    """Make what is missing. A certificate appears under its name only when whole, its key before it."""
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)

    def once(name: str, make: Callable[[], None]) -> None:
        if not (directory / name).exists():
            make()

    for name in _AUTHORITIES:
        once(f"{name}.crt", partial(_authority, directory, name))
    once("sa.pub", partial(_service_account_key, directory))
    with ThreadPoolExecutor(4) as pool:
        todo = [c for c in certificates(slot) if not (directory / f"{c.name}.crt").exists()]
        list(pool.map(lambda certificate: _sign(directory, certificate), todo))


def _key(directory: Path, name: str) -> None:
    path = directory / f"{name}.key"
    temporary = path.with_suffix(".key.part")
    run(
        [
            "openssl",
            "genpkey",
            "-algorithm",
            "EC",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-out",
            str(temporary),
        ]
    )
    temporary.replace(path)


def _authority(directory: Path, name: str) -> None:
    _key(directory, name)
    temporary = directory / f"{name}.crt.part"
    extensions = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,digitalSignature"]
    run(
        [
            "openssl",
            "req",
            "-x509",
            "-new",
            "-key",
            str(directory / f"{name}.key"),
            "-subj",
            f"/CN=skerry {name}",
        ]
        + [part for extension in extensions for part in ("-addext", extension)]
        + ["-days", _DAYS, "-out", str(temporary)]
    )
    temporary.replace(directory / f"{name}.crt")


def _service_account_key(directory: Path) -> None:
    _key(directory, "sa")
    temporary = directory / "sa.pub.part"
    run(["openssl", "pkey", "-in", str(directory / "sa.key"), "-pubout", "-out", str(temporary)])
    temporary.replace(directory / "sa.pub")


def _sign(directory: Path, certificate: Certificate) -> None:
    _key(directory, certificate.name)
    stem = directory / certificate.name
    extensions = ["keyUsage=critical,digitalSignature", f"extendedKeyUsage={certificate.usage}"]
    if certificate.names:
        extensions.append(f"subjectAltName={','.join(certificate.names)}")
    settings, temporary = stem.with_name(f"{stem.name}.ext"), stem.with_name(f"{stem.name}.crt.part")
    settings.write_text("\n".join(extensions) + "\n")
    request = run(["openssl", "req", "-new", "-key", f"{stem}.key", "-subj", certificate.subject])
    authority = directory / certificate.authority
    run(
        [
            *("openssl", "x509", "-req", "-CA", f"{authority}.crt", "-CAkey", f"{authority}.key"),
            *("-set_serial", f"0x{secrets.token_hex(8)}", "-extfile", str(settings), "-days", _DAYS),
            *("-out", str(temporary)),
        ],
        text_in=request,
    )
    settings.unlink()
    temporary.replace(stem.with_name(f"{stem.name}.crt"))


def kubeconfig(directory: Path, user: str, cluster: str, server: str) -> str:
    """A kubeconfig (JSON, so YAML too) with everything embedded."""

    def data(name: str) -> str:
        return base64.b64encode((directory / name).read_bytes()).decode()

    context = f"skerry-{cluster}"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": context,
        "clusters": [
            {"name": context, "cluster": {"server": server, "certificate-authority-data": data("ca.crt")}}
        ],
        "users": [
            {
                "name": user,
                "user": {
                    "client-certificate-data": data(f"{user}.crt"),
                    "client-key-data": data(f"{user}.key"),
                },
            }
        ],
        "contexts": [
            {"name": context, "context": {"cluster": context, "user": user, "namespace": "default"}}
        ],
    }
    return json.dumps(document, indent=1) + "\n"
