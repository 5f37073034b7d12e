"""Which paths belong to the system, to somebody's secrets, or to what runs later. Pure.

Paths are normalised and absolute; wildcards and holes in them match whatever they might.
"""

from __future__ import annotations

import posixpath
import re
from fnmatch import fnmatchcase

from skerry_runner.audit.values import UNKNOWN, Text

__all__ = [
    "HOME", "WORKSPACE", "Place", "is_device", "is_home", "is_secret", "is_startup", "is_system", "is_tree", "resolve", "secret_rule",
]  # fmt: skip

NAME_MAX = 255
HOME = "/home/agent"
WORKSPACE = "/mnt/user-data/workspace"
_TOP = (
    "bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "media", "mnt", "opt", "proc", "root", "run",
    "sbin", "srv", "sys", "usr", "var",
)  # fmt: skip
_DEEP = frozenset({"bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "sys"})
_USR = frozenset({"bin", "sbin", "lib", "lib32", "lib64", "libexec"})
_WILD = re.compile(r"\[[^\]]*\]|[*?.@!+()|]|" + UNKNOWN)
_HARMLESS_DEVICES = re.compile(
    r"/dev/(null|zero|full|tty|console|stdin|stdout|stderr|random|urandom|ptmx|fd/\d+|pts/\d+|shm(/.*)?)"
)
_STARTUP = re.compile(
    r"(/root|/home/[^/]+)/(\.(bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|login|cshrc|tcshrc|kshrc|inputrc|pam_environment|xinitrc|xprofile)"
    r"|\.ssh/(authorized_keys2?|rc|config|environment)|\.config/(fish/config\.fish|autostart/.*|systemd/user/.*)|\.pythonrc|\.gitconfig-never)"
    r"|/var/spool/cron(/.*)?"
)
_SECRETS = (
    ("read-secret", ("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d/*",
                     "/etc/ssh/ssh_host_*_key", "/etc/security/opasswd",
                     "/root/.ssh/id_*", "/home/*/.ssh/id_*", "/root/.ssh/*.pem", "/home/*/.ssh/*.pem",
                     "/root/.aws/credentials", "/home/*/.aws/credentials", "/root/.netrc", "/home/*/.netrc",
                     "/root/.git-credentials", "/home/*/.git-credentials", "/root/.kube/config", "/home/*/.kube/config",
                     "/root/.docker/config.json", "/home/*/.docker/config.json", "/root/.gnupg/*", "/home/*/.gnupg/*",
                     "/root/.config/gcloud/*", "/home/*/.config/gcloud/*", "/root/.pgpass", "/home/*/.pgpass",
                     "/run/secrets/*", "/var/run/secrets/*")),
    ("read-environ", ("/proc/*/environ", "/proc/*/mem", "/proc/*/maps", "/proc/kcore", "/proc/kmem", "/dev/mem", "/dev/kmem", "/dev/port")),
)  # fmt: skip
_OWN_MAPS = re.compile(r"/proc/[^/]+/maps")
_SAMPLES = (
    "/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/proc/1/environ", "/proc/self/environ", f"{HOME}/.ssh/id_rsa",
    "/root/.ssh/id_rsa", "/root/.aws/credentials", f"{HOME}/.aws/credentials",
)  # fmt: skip

Place = str | None
"""An absolute path, or None if it may be anywhere."""


def resolve(text: str, cwd: Place) -> Place:
    """The path that a word names."""
    if text.startswith(UNKNOWN) or not text:
        return None
    if not text.startswith("/"):
        if cwd is None:
            return None
        text = f"{cwd}/{text}"
    return posixpath.normpath("/" + text.lstrip("/"))


def _wild(part: str) -> bool:
    # No file has a name so long: a pattern of that length is there to be slow.
    if len(part) > NAME_MAX:
        return True
    return (bool(part) and not _WILD.sub("", part) and part not in {".", ".."}) or part.startswith("!(")


def _tops(part: str, *, glob: bool) -> list[str]:
    if re.search(r"[@!+?*]\(", part):
        return list(_TOP)
    if len(part) <= NAME_MAX and (UNKNOWN in part or glob):
        pattern = part.replace(UNKNOWN, "*")
        return [top for top in _TOP if fnmatchcase(top, pattern)]
    return [part] if part in _TOP else []


def is_tree(path: str, *, glob: bool = False) -> bool:
    """Whether to delete the tree there would take away the system, a home, or everything."""
    parts = [part for part in path.split("/") if part]
    while parts and (glob or UNKNOWN in parts[-1]) and _wild(parts[-1]):
        parts.pop()
    if not parts:
        return True
    if UNKNOWN in parts[0] and len(parts) > 1:
        return False
    return any(_is_tree_of(top, parts) for top in _tops(parts[0], glob=glob))


def _is_tree_of(top: str, parts: list[str]) -> bool:
    if len(parts) == 1:
        return True
    if top in _DEEP:
        return parts[:2] != ["dev", "shm"] or len(parts) < 3
    if top == "usr":
        return len(parts) == 2 or parts[1] in {"bin", "sbin"}
    if top == "var":
        return len(parts) == 2 and parts[1] in {"lib", "spool", "run"}
    return top == "home" and len(parts) == 2


def is_system(path: str, *, glob: bool = False) -> bool:
    """Whether a file there belongs to the system."""
    parts = [part for part in path.split("/") if part]
    if len(parts) < 2:
        return path != "/" and bool(parts) and parts[0] in _DEEP
    for top in _tops(parts[0], glob=glob and UNKNOWN not in parts[0]):
        if top in _DEEP - {"dev"}:
            return not re.fullmatch(r"/proc/(self|thread-self|\d+)/fd/\d+", path)
        if top == "usr" and parts[1] in _USR:
            return True
    return False


def is_device(path: str) -> bool:
    return path.startswith("/dev/") and _HARMLESS_DEVICES.fullmatch(path) is None and not is_socket(path)


def is_socket(path: str) -> bool:
    return path.startswith(("/dev/tcp/", "/dev/udp/")) or path in {"/dev/tcp", "/dev/udp"}


def is_startup(path: str) -> bool:
    return _STARTUP.fullmatch(path) is not None


def is_home(path: str) -> bool:
    return path in {"/root", "/mnt/user-data"} or re.fullmatch(r"/home/[^/]+", path) is not None


def secret_rule(path: str, *, glob: bool = False) -> str | None:
    """Id of the rule against reading the file, if there is one."""
    if path.endswith(".pub"):
        return None
    for rule, patterns in _SECRETS:
        if any(fnmatchcase(path, pattern) for pattern in patterns):
            return None if _OWN_MAPS.fullmatch(path) and not path.startswith("/proc/*") else rule
    if glob and len(path) <= 2 * NAME_MAX and not _wild(path.rsplit("/", 1)[-1]):
        for sample in _SAMPLES:
            if fnmatchcase(sample, path):
                return "read-environ" if "proc" in sample else "read-secret"
    return None


def is_secret(text: Text, cwd: Place) -> str | None:
    """As `secret_rule`, for a word."""
    path = resolve(text.text, cwd)
    return None if path is None else secret_rule(path, glob=text.glob)
