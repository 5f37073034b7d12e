"""Commands that run another command given as their arguments: what stands before it, as data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from skerry_runner.audit.assignments import check_assignment
from skerry_runner.audit.finder import Finder, Handler
from skerry_runner.audit.options import split_options
from skerry_runner.audit.values import EMPTY, UNKNOWN, Taint, Text, unknown

__all__ = ["WRAPPERS"]

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


@dataclass(frozen=True)
class Wrapper:
    """`valued`: options with a value; `skip`: operands before the command; `rule`: broken by using it at all."""

    valued: frozenset[str] = frozenset()
    skip: int = 0
    assigns: bool = False
    rule: str | None = None
    words: tuple[str, ...] = ()
    """Sub-commands, one of which must come first."""


def _w(
    valued: str = "", skip: int = 0, *, assigns: bool = False, rule: str | None = None, words: str = ""
) -> Wrapper:
    return Wrapper(frozenset(valued.split()), skip, assigns, rule, tuple(words.split()))


_TABLE = {
    "sudo": _w("u g h p C r t T U D R user group host prompt chdir chroot role type other-user", assigns=True, rule="privilege"),
    "doas": _w("u C", rule="privilege"),
    "pkexec": _w("user", rule="privilege"),
    "env": _w("u C unset chdir", assigns=True),
    "nohup": _w(), "setsid": _w(), "time": _w("f o format output"), "nice": _w("n adjustment"), "builtin": _w(),
    "ionice": _w("c n p class classdata"), "chrt": _w("T P D", 1), "taskset": _w("", 1), "timeout": _w("s k signal kill-after", 1),
    "stdbuf": _w("i o e input output error"), "exec": _w("a"), "busybox": _w(), "toybox": _w(), "coproc": _w(),
    "strace": _w("e o p s u E a b I O P S X"), "ltrace": _w("e o p s u a A n"), "unbuffer": _w(), "fakeroot": _w("l s i b"),
    "chroot": _w("userspec groups", 1), "proot": _w("r b w S R"), "xvfb-run": _w("n s a f e p w"), "eatmydata": _w(), "firejail": _w(),
    "unshare": _w("S G", rule="escape"), "nsenter": _w("t target", rule="escape"), "bwrap": _w(), "systemd-run": _w("u p M unit property slice"),
    "runuser": _w("u g G", rule="privilege"), "setpriv": _w(), "prlimit": _w(), "cpulimit": _w("l p e"), "numactl": _w("N m C"),
    "catchsegv": _w(), "valgrind": _w(), "perf": _w("e o", words="stat record"), "rlwrap": _w(), "chronic": _w(), "retry": _w(),
    "faketime": _w("f", 1), "dbus-run-session": _w(), "ssh-agent": _w("t a"), "torsocks": _w(), "proxychains": _w("f"), "proxychains4": _w("f"),
    "poetry": _w(words="run"), "uv": _w("with python p directory project", words="run"), "pipenv": _w(words="run"), "pdm": _w(words="run"),
    "hatch": _w(words="run"), "bundle": _w(words="exec"), "rbenv": _w(words="exec"), "pyenv": _w(words="exec"), "asdf": _w(words="exec"),
    "mise": _w(words="exec x"), "conda": _w("n p name prefix", words="run"), "mamba": _w("n p name prefix", words="run"),
    "micromamba": _w("n p name prefix", words="run"), "dotenv": _w("f", words="run"), "direnv": _w(skip=1, words="exec"),
    "flatpak-spawn": _w(rule="escape"), "entr": _w(), "nix-shell": _w("p"), "steam-run": _w(), "dumb-init": _w(), "tini": _w(),
    "gosu": _w(skip=1, rule="privilege"), "su-exec": _w(skip=1, rule="privilege"), "ts": _w(), "rtk": _w(), "watchexec": _w("w e i"),
}  # fmt: skip


def _wrapped(judge: Finder, name: str, args: Sequence[Text], stdin: Text | None) -> Text | None:
    wrapper = _TABLE[name]
    if wrapper.rule:
        judge.find(wrapper.rule)
    options = split_options(args, wrapper.valued, stop=True)
    rest = options.operands
    if wrapper.words:
        if not rest or rest[0].text not in wrapper.words:
            return None
        options = split_options(rest[1:], wrapper.valued, stop=True)
        rest = options.operands
    if name == "env" and (split := options.value("S", "split-string") or _split_string(args)) is not None:
        judge.code(" ".join([split.text, *(arg.text for arg in rest)]), stdin)
    while wrapper.assigns and rest and (match := _ASSIGNMENT.fullmatch(rest[0].text)):
        check_assignment(judge, match.group(1), Text(match.group(2), taint=rest[0].taint))
        rest = rest[1:]
    if (
        wrapper.assigns
        and len(rest) > 1
        and rest[0].text == UNKNOWN
        and not rest[0].taint & {Taint.NET, Taint.DECODED}
    ):
        # `env $(cat .env) command`: assignments from a file.
        rest = rest[1:]
    rest = rest[wrapper.skip :]
    if name == "sudo" and options.has("lvKke", "list", "validate", "edit") and not rest:
        return None
    if not rest:
        return _environment(name)
    return judge.call(rest, stdin)


def _split_string(args: Sequence[Text]) -> Text | None:
    """The text of `env -S`, wherever it stands in a cluster."""
    for at, arg in enumerate(args):
        if re.fullmatch(r"-[a-zA-Z]*S", arg.text):
            return args[at + 1] if at + 1 < len(args) else EMPTY
        if match := re.fullmatch(r"(?:-[a-zA-Z]*S|--split-string=)(.+)", arg.text, re.DOTALL):
            return Text(match.group(1), taint=arg.taint)
        if not arg.text.startswith("-"):
            return None
    return None


def _environment(name: str) -> Text | None:
    return unknown(Taint.ENVIRONMENT) if name == "env" else None


def _command(judge: Finder, _: str, args: Sequence[Text], stdin: Text | None) -> Text | None:
    options = split_options(args, stop=True)
    if options.flags & {"v", "V"}:
        return options.operands[0] if options.operands else None
    return judge.call(options.operands, stdin) if options.operands else None


WRAPPERS: dict[str, Handler] = {**dict.fromkeys(_TABLE, _wrapped), "command": _command}
