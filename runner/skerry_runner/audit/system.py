"""Commands that reach for the machine: disks, kernel, processes, accounts, packages, containers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skerry_runner.audit.finder import Finder, Handler
from skerry_runner.audit.options import split_options
from skerry_runner.audit.paths import resolve
from skerry_runner.audit.values import Taint, Text, unknown

__all__ = ["SYSTEM"]

_HELP = frozenset({"--help", "-h", "--version", "-V"})


def _always(rule: str, harmless: str = "", *, bare: bool = True) -> Handler:
    """Breaks the rule whenever it is run, unless only asked for help or with one of the harmless words."""
    free = frozenset(harmless.split())

    def handler(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text | None:
        words = [arg.text for arg in args]
        asks = any(word in _HELP - ({"-h"} if rule == "power" else set()) for word in words)
        if not asks and not free.intersection(words) and (words or bare):
            judge.find(rule)
        return None

    return handler


def _with(rule: str, *patterns: str, where: int | None = None) -> Handler:
    """Breaks the rule when its arguments, joined by spaces, hold one of the patterns."""
    compiled = re.compile("|".join(patterns))

    def handler(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text | None:
        if compiled.search(" ".join(arg.text for arg in args[:where])):
            judge.find(rule)
        return None

    return handler


def _kill(judge: Finder, name: str, args: Sequence[Text], _: Text | None) -> Text | None:
    words = [arg.text for arg in args]
    if name == "killall5":
        judge.find("kill-all")
    elif name == "kill":
        if "-l" in words or "-L" in words:
            return None
        targets = (
            words[1:]
            if words and re.fullmatch(r"-(\d+|[A-Za-z]+\d*|s|n)", words[0]) and len(words) > 1
            else words
        )
        if {"-1", "1"} & set(targets):
            judge.find("kill-all")
    elif any(
        word in {".", ".*", "", "^", "sandboxd", "skerry_sandboxd", "skerry-sandboxd"}
        for word in words
        if not word.startswith("-")
    ):
        judge.find("kill-all")
    return None


def _systemctl(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text | None:
    words = {arg.text for arg in args}
    if words & {
        "poweroff",
        "reboot",
        "halt",
        "kexec",
        "suspend",
        "hibernate",
        "rescue",
        "emergency",
        "isolate",
    }:
        judge.find("power")
    return None


def _crontab(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text | None:
    words = {arg.text for arg in args}
    if "-l" not in words:
        judge.find("write-startup")
    return None


def _packages(verbs: str) -> Handler:
    wanted = frozenset(verbs.split())

    def handler(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text | None:
        operands = split_options(args, {"o", "c", "t", "root", "python", "p", "index-url", "i"}).operands
        if any(operand.text in wanted for operand in operands[:3]) and "--help" not in [
            arg.text for arg in args
        ]:
            judge.find("install")
        return None

    return handler


def _pacman(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text | None:
    if any(re.fullmatch(r"-S[yuwc]*[^si]?|-U|--sync|--upgrade", arg.text) for arg in args):
        judge.find("install")
    return None


def _dpkg(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text | None:
    if any(arg.text in {"-i", "--install", "--unpack", "-U", "-Uvh", "-ivh"} for arg in args):
        judge.find("install")
    return None


def _mount(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text | None:
    words = [arg.text for arg in args]
    if any(not word.startswith("-") for word in words) or (
        words and words[0] in {"-a", "--all", "-o", "--bind"}
    ):
        judge.find("kernel")
    return None


_CONTAINER = re.compile(
    r"--privileged|--pid[= ]host|--net(work)?[= ]host|--cap-add[= ](ALL|SYS_ADMIN|SYS_PTRACE|SYS_MODULE)|(-v|--volume|--mount)[= ]?\S*(^|[ =,])/(:| |,|$)|(-v|--volume)[= ]?/(etc|root|proc|sys|var/run|home|boot|dev)?/?:|docker\.sock|source=/,|src=/,|--userns[= ]host|--ipc[= ]host|--security-opt[= ]\S*unconfined|--device[= ]/dev"
)


def _git(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text | None:
    words = [arg.text for arg in args]
    for at, word in enumerate(words):
        setting = words[at + 1] if word == "-c" and at + 1 < len(words) else ""
        key, _eq, value = setting.partition("=")
        if key.lower().startswith("alias.") and value.startswith("!"):
            judge.code(value[1:])
        elif re.fullmatch(
            r"core\.(sshcommand|pager|editor|fsmonitor|askpass)|.*\.(helper|command|cmd|textconv)",
            key.lower(),
        ):
            judge.code(value.removeprefix("!"))
        if word == "config" and at + 1 < len(words):
            for value in words[at + 2 :]:
                if value.startswith("!"):
                    judge.code(value[1:])
        if word in {
            "--exec",
            "-x",
            "--tree-filter",
            "--index-filter",
            "--msg-filter",
            "--env-filter",
            "--upload-pack",
            "--receive-pack",
        } and at + 1 < len(words):
            judge.code(words[at + 1])
    if "foreach" in words:
        judge.code(" ".join(w for w in words[words.index("foreach") + 1 :] if w != "--recursive"))
    if words[:2] == ["bisect", "run"]:
        judge.call(args[2:], stdin) if len(args) > 2 else None
    return None


def _editor(judge: Finder, _: str, args: Sequence[Text], __: Text | None) -> Text | None:
    words = [arg.text for arg in args]
    for at, word in enumerate(words):
        command = (
            word[1:]
            if word.startswith("+")
            else words[at + 1]
            if re.fullmatch(r"-[a-zA-Z]{0,3}c|--cmd|-ex|-eval-command", word) and at + 1 < len(words)
            else ""
        )
        if match := re.match(r":?\s*(?:sil\w*\s+)?(?:!|shell\s+|r\s*!)(.+)", command):
            judge.code(match.group(1))
    return None


def _make(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text | None:
    words = [arg.text for arg in args]
    for at, word in enumerate(words):
        if word in {"-f", "--file", "--makefile"} and at + 1 < len(args):
            given = words[at + 1]
            if given not in {"-", "/dev/stdin"}:
                stdin = judge.files.get(resolve(given, judge.cwd) or "")
            break
    else:
        stdin = stdin if "-f-" in words else None
    if stdin is not None:
        if Taint.NET in stdin.taint:
            judge.find("run-download")
        for line in stdin.text.split("\n")[:200]:
            if line.startswith("\t"):
                judge.code(line.strip().lstrip("@-+"))
            elif ";" in line:
                judge.code(line.split(";", 1)[1])
    return unknown(Taint.COMMAND)


_DISK = "mkfs mke2fs mkdosfs mkntfs mkswap wipefs fdisk sfdisk cfdisk gdisk sgdisk parted blkdiscard badblocks cryptsetup lvremove vgremove pvremove pvcreate zpool mdadm hdparm"
SYSTEM: dict[str, Handler] = {
    **dict.fromkeys(_DISK.split(), _always("format-disk", "-l --list print status list", bare=True)),
    **dict.fromkeys(("shutdown", "reboot", "halt", "poweroff", "telinit", "init", "kexec"), _always("power", "-c")),
    **dict.fromkeys(("insmod", "modprobe", "rmmod", "swapon", "swapoff", "losetup", "pivot_root", "switch_root", "setenforce", "tc"), _always("kernel", "-n --dry-run -l -a --show show")),
    **dict.fromkeys(("mount", "umount"), _mount),
    "sysctl": _with("kernel", r"(^| )(-w|--write|-p|--system)\b", r"[a-z_]+\.[\w.]+="),
    "iptables": _with("kernel", r"(^| )-[FXADIPRNZE]\b", r"--(flush|append|delete|insert|policy)"),
    "ip6tables": _with("kernel", r"(^| )-[FXADIPRNZE]\b", r"--(flush|append|delete|insert|policy)"),
    "nft": _with("kernel", r"\b(flush|add|delete|insert)\b"), "ufw": _with("kernel", r"\b(disable|reset|allow|delete)\b"),
    "firewall-cmd": _with("kernel", r"--(add|remove|panic)"), "ip": _with("kernel", r"\b(route|link|addr|address|rule)\b.*\b(add|del|delete|flush|set|replace)\b"),
    "kill": _kill, "pkill": _kill, "killall": _kill, "killall5": _kill,
    **dict.fromkeys(("passwd", "chpasswd", "usermod", "userdel", "groupdel", "visudo", "vipw", "vigr", "gpasswd", "chsh", "chage", "deluser"), _always("accounts", "-S --status -l")),
    **dict.fromkeys(("useradd", "adduser", "groupadd", "addgroup"), _always("accounts", bare=False)),
    "systemctl": _systemctl, "crontab": _crontab,
    "setcap": _always("escape", "-v"), "capsh": _with("escape", r"--(addamb|caps|uid|gid)"), "gcore": _always("read-environ"),
    **dict.fromkeys(("docker", "podman", "nerdctl", "ctr", "crictl"), _with("escape", _CONTAINER.pattern)),
    "debugfs": _always("escape"), "mknod": _with("escape", r" [bc] \d"),
    "pip": _packages("install"), "pip3": _packages("install"), "pipx": _packages("install"), "uv": _packages("pip tool"),
    "apt": _packages("install"), "apt-get": _packages("install"), "aptitude": _packages("install"), "yum": _packages("install"),
    "dnf": _packages("install"), "microdnf": _packages("install"), "apk": _packages("add"), "zypper": _packages("install in"), "brew": _packages("install"),
    "snap": _packages("install"), "conda": _packages("install"), "mamba": _packages("install"), "easy_install": _always("install"),
    "pacman": _pacman, "dpkg": _dpkg, "rpm": _dpkg,
    "git": _git, "vim": _editor, "vi": _editor, "nvim": _editor, "ex": _editor, "gdb": _editor, "less": _editor, "make": _make, "gmake": _make,
}  # fmt: skip
