"""All commands that the judge knows, and what is looked at in the arguments of every command."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skerry_runner.audit.files import FILES
from skerry_runner.audit.finder import Finder, Handler, default_output
from skerry_runner.audit.interpreters import INTERPRETERS, by_pattern
from skerry_runner.audit.network import NETWORK
from skerry_runner.audit.outputs import OUTPUTS
from skerry_runner.audit.paths import WORKSPACE, is_secret
from skerry_runner.audit.running import script
from skerry_runner.audit.shells import SHELLS
from skerry_runner.audit.system import SYSTEM
from skerry_runner.audit.values import Text
from skerry_runner.audit.wrappers import WRAPPERS

__all__ = [
    "DATA_ONLY",
    "HANDLERS",
    "HARMLESS",
    "NAMES",
    "Finder",
    "Handler",
    "by_pattern",
    "check_operands",
    "default_output",
    "run_file",
]


def _both(first: Handler, then: Handler) -> Handler:
    def handler(judge: Finder, name: str, args: Sequence[Text], stdin: Text | None) -> Text | None:
        first(judge, name, args, stdin)
        return then(judge, name, args, stdin)

    return handler


HANDLERS: dict[str, Handler] = {**OUTPUTS, **WRAPPERS, **SHELLS, **FILES, **SYSTEM, **NETWORK, **INTERPRETERS}
for _name in ("uv", "conda", "mamba"):
    HANDLERS[_name] = _both(WRAPPERS[_name], SYSTEM[_name])
HANDLERS["mknod"] = _both(FILES["mknod"], SYSTEM["mknod"])
NAMES = sorted(HANDLERS)

HARMLESS = frozenset({
    "echo", "printf", "cat", "base64", "rev", "which", "read", "printenv", "set", "cd", "pushd", "time", "git", "make", "script", "watch",
    "host", "at", "batch", "command", "install", "touch", "mkdir", "links", "fetch", "retry", "ex", "ip", "http", "https", "mail", "init", "ts", "find", "tar",
    "node", "ruby", "perl", "python", "lua", "R", "exec", "env", ".", "alias", "trap",
})  # fmt: skip
"""Names that are words of every day, or do no harm without further text: no commands where quotes can't be trusted."""
DATA_ONLY = frozenset({
    "echo", "printf", ":", "true", "false", "test", "[", "[[", "ls", "stat", "rm", "chmod", "chown", "chgrp", "touch", "mkdir", "man", "which",
    "type", "command", "readlink", "realpath", "basename", "dirname", "ssh-keygen", "ssh-add", "ssh", "git", "find", "sudo", "env", "export",
    "declare", "local", "readonly", "typeset", "read", "alias", "cd", "pushd", "ssh-copy-id", "file", "help", "info", "whatis", "du", "id", "gh",
    "exec", "time", "nohup", "timeout", "nice", "xargs", "eval", "bash", "sh", "zsh", "dash", "unset", "logger", "wall",
})  # fmt: skip
"""Commands whose arguments are shown, named or passed on, but not opened."""
_PATTERN_FIRST = frozenset(
    {
        "grep",
        "egrep",
        "fgrep",
        "zgrep",
        "rg",
        "ag",
        "ack",
        "sed",
        "gsed",
        "awk",
        "gawk",
        "mawk",
        "jq",
        "yq",
        "perl",
        "python",
        "python3",
        "ruby",
        "node",
        "expr",
        "tr",
    }
)
_DATA_OPTION = re.compile(r"-[a-zA-Z]*[mtb]|--(message|title|body|description|name|notes)")
_SUSPECT = re.compile(r"etc|proc|ssh|secrets|aws|netrc|git-cred|kube|docker|gnupg|gcloud|pgpass|/dev/|[*?\[]")


def run_file(judge: Finder, path: Text, args: Sequence[Text]) -> None:
    """A file that the command itself has written is run by its name."""
    script(judge, path, "shell", args)


def check_operands(judge: Finder, name: str, args: Sequence[Text]) -> None:
    """Whether a command is given somebody's secrets to read."""
    skip = name in _PATTERN_FIRST
    for arg in args:
        text = arg.text
        if skip and not text.startswith("-"):
            skip = False
            continue
        if skip and re.fullmatch(r"-[a-zA-Z]*[ef]|--(regexp|expression|file)(=.*)?", text):
            skip = False
        if (judge.cwd == WORKSPACE and not _SUSPECT.search(text)) or len(text) > 400:
            continue
        judge.budget.take(2)
        for candidate in _candidates(text):
            if rule := is_secret(Text(candidate, arg.glob), judge.cwd):
                judge.find(rule)
                return


def _candidates(text: str) -> list[str]:
    marks = ("file://", "@", "=", "<")
    found = [text, *(text.rsplit(mark, 1)[1] for mark in marks if mark in text)]
    return [one for one in found if one and not one.startswith("-")]
