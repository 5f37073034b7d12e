"""Grants are what sandboxd verifies; keys can be changed without a gap."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from skerry_api.grants import GrantError, GrantProblem, GrantRole, verify_grant
from skerry_api.keys import KeySet, SigningKey
from skerry_operator.errors import ConfigError
from skerry_operator.plan.types import GrantRequest
from skerry_operator.reconcile.keyring import CURRENT, NEXT, KeyRing

NOW = datetime(2026, 1, 1, tzinfo=UTC)
UNIX = int(NOW.timestamp())


def ring(directory: Path) -> KeyRing:
    numbers = count()
    return KeyRing(directory, lambda: f"id-{next(numbers):016}")


def write(directory: Path, name: str) -> SigningKey:
    key = SigningKey.generate()
    (directory / name).write_text(key.to_pem(), encoding="ascii")
    return key


def request(public_key: str) -> GrantRequest:
    return GrantRequest(
        namespace="ns",
        sandbox_id="sbx-1",
        pod_uid="pod-1",
        run_uid="run-1",
        run_name="hello",
        epoch=3,
        public_key=public_key,
        expires=NOW + timedelta(minutes=5),
    )


def test_a_minted_grant_is_bound_to_pod_run_epoch_and_key(tmp_path: Path) -> None:
    write(tmp_path, CURRENT)
    runner = SigningKey.generate().public
    keys = ring(tmp_path)
    token = keys.mint(request(runner.text), NOW)
    grant = verify_grant(token, KeySet.from_jwks(keys.jwks), now=UNIX)
    assert grant.run is not None
    assert (grant.role, grant.namespace, grant.sandbox_id, grant.pod_uid) == (
        GrantRole.RUNNER, "ns", "sbx-1", "pod-1",
    )  # fmt: skip
    assert (grant.run.uid, grant.run.name, grant.epoch) == ("run-1", "hello", 3)
    assert (grant.cnf.jkt, grant.iat, grant.exp) == (runner.thumbprint, UNIX, UNIX + 300)
    with pytest.raises(GrantError) as caught:
        verify_grant(token, KeySet.from_jwks(keys.jwks), now=UNIX + 300)
    assert caught.value.problem is GrantProblem.EXPIRED


def test_the_operators_own_grant_is_bound_to_its_key(tmp_path: Path) -> None:
    signing = write(tmp_path, CURRENT)
    keys = ring(tmp_path)
    token, key = keys.own_grant("ns", "sbx-1", "pod-1", NOW)
    grant = verify_grant(token, KeySet.from_jwks(keys.jwks), now=UNIX)
    assert (grant.role, grant.run, grant.pod_uid) == (GrantRole.OPERATOR, None, "pod-1")
    assert grant.cnf.jkt == key.public.thumbprint == signing.public.thumbprint


def test_both_keys_are_given_to_sandboxes_and_a_swap_is_seen(tmp_path: Path) -> None:
    first, second = write(tmp_path, CURRENT), write(tmp_path, NEXT)
    keys = ring(tmp_path)
    given = KeySet.from_jwks(keys.jwks)
    assert [key.thumbprint for key in given.keys] == [first.public.thumbprint, second.public.thumbprint]
    (tmp_path / NEXT).rename(tmp_path / CURRENT)
    keys.reload()
    token = keys.mint(request(SigningKey.generate().public.text), NOW)
    assert verify_grant(token, given, now=UNIX).pod_uid == "pod-1", "a sandbox of before the swap takes it"


@pytest.mark.parametrize("content", [None, b"", b"no key", b"\xff"])
def test_a_directory_without_a_usable_key(content: bytes | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / CURRENT).write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        ring(tmp_path)
    assert caught.value.path == "keysDirectory"


def test_a_bad_reload_keeps_the_old_keys(tmp_path: Path) -> None:
    write(tmp_path, CURRENT)
    keys = ring(tmp_path)
    before = keys.jwks
    (tmp_path / CURRENT).write_text("half written", encoding="ascii")
    with pytest.raises(ConfigError):
        keys.reload()
    assert keys.jwks == before


def test_a_runners_key_that_is_none_is_a_value_error(tmp_path: Path) -> None:
    write(tmp_path, CURRENT)
    with pytest.raises(ValueError, match=r"."):
        ring(tmp_path).mint(request("no key"), NOW)
