"""Certificates: what they say, and that they are made once."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from skerry_devcluster.pki import certificates, ensure_pki, kubeconfig
from skerry_devcluster.slots import Slot


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("pki")
    ensure_pki(directory, Slot(1))
    return directory


def load(pki: Path, name: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate((pki / f"{name}.crt").read_bytes())


@pytest.mark.parametrize("name", [certificate.name for certificate in certificates(Slot(1))])
def test_each_is_signed_by_its_authority(pki: Path, name: str) -> None:
    wanted = next(certificate for certificate in certificates(Slot(1)) if certificate.name == name)
    load(pki, name).verify_directly_issued_by(load(pki, wanted.authority))


def test_the_servers_names_are_the_slots(pki: Path) -> None:
    names = load(pki, "kube-apiserver").extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    addresses = [str(address) for address in names.get_values_for_type(x509.IPAddress)]
    assert addresses == ["198.19.16.1", "198.18.255.6", "127.0.0.1"]


@pytest.mark.parametrize(("name", "organization"), [("admin", "system:masters"), ("kubelet", "system:nodes")])
def test_groups(pki: Path, name: str, organization: str) -> None:
    attributes = load(pki, name).subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    assert [attribute.value for attribute in attributes] == [organization]


def test_keys_are_for_their_owner_alone(pki: Path) -> None:
    keys = list(pki.glob("*.key"))
    assert len(keys) == len(certificates(Slot(1))) + 3  # two authorities and the ServiceAccounts'
    assert {key.stat().st_mode & 0o777 for key in keys} == {0o600}


def test_a_second_call_changes_nothing_and_a_missing_one_is_made_again(pki: Path) -> None:
    before = {path.name: path.read_bytes() for path in pki.iterdir()}
    ensure_pki(pki, Slot(1))
    assert {path.name: path.read_bytes() for path in pki.iterdir()} == before
    (pki / "kube-proxy.crt").unlink()
    ensure_pki(pki, Slot(1))
    after = {path.name: path.read_bytes() for path in pki.iterdir()}
    assert {name for name in before if after[name] != before[name]} == {"kube-proxy.crt", "kube-proxy.key"}


def test_a_kubeconfig_carries_everything(pki: Path) -> None:
    document = json.loads(kubeconfig(pki, "admin", "demo", "https://198.18.255.6:6443"))
    assert document["current-context"] == "skerry-demo"
    assert document["clusters"][0]["cluster"]["server"] == "https://198.18.255.6:6443"
    embedded = document["users"][0]["user"]["client-certificate-data"]
    assert base64.b64decode(embedded) == (pki / "admin.crt").read_bytes()
