"""Settings from the environment: defaults, and errors that name their variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from skerry_api.keys import KeySet, SigningKey
from skerry_api.sandboxd_api import DEFAULT_PORT
from skerry_sandboxd.settings import Root, SettingsError, base_environment, load_settings

KEYS = KeySet.of([SigningKey.generate().public])
GOOD = {"SKERRY_OPERATOR_KEYS": KEYS.to_jwks(), "SKERRY_POD_UID": "p", "SKERRY_NAMESPACE": "n"}


def test_defaults() -> None:
    settings = load_settings(GOOD)
    assert (settings.keys, settings.pod_uid, settings.namespace, settings.sandbox_id) == (
        KEYS,
        "p",
        "n",
        None,
    )
    assert (settings.host, settings.port) == ("0.0.0.0", DEFAULT_PORT)
    assert settings.socket == Path("/run/skerry/sandboxd.sock")
    assert settings.roots == (Root("/mnt/user-data"), Root("/tmp"), Root("/mnt/skills", writable=False))


def test_everything_set() -> None:
    settings = load_settings(
        GOOD
        | {
            "SKERRY_SANDBOX_ID": "sbx", "SKERRY_LISTEN": "[::]:99", "SKERRY_SOCKET": "", "SKERRY_STATE_DIR": "",
            "SKERRY_FILE_ROOTS": "/a, /b:ro,/c:rw", "SKERRY_CWD": "/a/w",
        }
    )  # fmt: skip
    assert (settings.sandbox_id, settings.host, settings.port, settings.cwd) == ("sbx", "::", 99, "/a/w")
    assert (settings.socket, settings.state_dir) == (None, None)
    assert settings.roots == (Root("/a"), Root("/b", writable=False), Root("/c"))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"SKERRY_OPERATOR_KEYS": ""}, "SKERRY_OPERATOR_KEYS: is not set"),
        ({"SKERRY_OPERATOR_KEYS": "{}"}, "SKERRY_OPERATOR_KEYS: a key set"),
        ({"SKERRY_POD_UID": ""}, "SKERRY_POD_UID"),
        ({"SKERRY_NAMESPACE": ""}, "SKERRY_NAMESPACE"),
        ({"SKERRY_LISTEN": "8477"}, "SKERRY_LISTEN"),
        ({"SKERRY_LISTEN": "a:b"}, "SKERRY_LISTEN"),
        ({"SKERRY_LISTEN": "a:70000"}, "SKERRY_LISTEN"),
        ({"SKERRY_FILE_ROOTS": "a"}, r"SKERRY_FILE_ROOTS\[0\]"),
        ({"SKERRY_FILE_ROOTS": "/a,/b/../c"}, r"SKERRY_FILE_ROOTS\[1\]"),
        ({"SKERRY_FILE_ROOTS": "/a:rx"}, r"SKERRY_FILE_ROOTS\[0\]"),
    ],
)
def test_bad(change: dict[str, str], problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        load_settings(GOOD | change)


def test_commands_inherit_what_is_not_ours() -> None:
    env = base_environment({"PATH": "/bin", "TOOL": "1", "SKERRY_POD_UID": "p", "KUBERNETES_PORT": "x"})
    assert env["TOOL"] == "1"
    assert env["PATH"] == "/bin"
    assert not {name for name in env if name.startswith(("SKERRY", "KUBERNETES"))}
