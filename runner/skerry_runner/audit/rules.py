"""The rules as data: what a finding is called, what it means for the command, and what the agent is told."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["RULES", "Rule", "Verdict", "worst"]


class Verdict(StrEnum):
    PASS = "pass"  # noqa: S105 - a verdict, no password
    WARN = "warn"
    BLOCK = "block"


_ORDER = tuple(Verdict)


def worst(verdicts: list[Verdict]) -> Verdict:
    """The gravest of them; pass if there are none."""
    return max(verdicts, key=_ORDER.index, default=Verdict.PASS)


@dataclass(frozen=True)
class Rule:
    """`says` ends the sentence "the command …"."""

    id: str
    verdict: Verdict
    says: str


_ALL = (
    Rule("empty", Verdict.BLOCK, "is empty"),
    Rule("too-long", Verdict.BLOCK, "is too long to be judged: put long texts into files with write_file"),
    Rule("null-byte", Verdict.BLOCK, "holds a null byte"),
    Rule("too-complex", Verdict.BLOCK, "is too deeply nested, or has too many parts, to be judged: split it"),
    Rule(
        "delete-system", Verdict.BLOCK, "deletes or moves a system folder, a whole home folder or everything"
    ),
    Rule("write-system", Verdict.BLOCK, "changes files of the system"),
    Rule("write-startup", Verdict.BLOCK, "changes what a login shell, SSH or cron will run later"),
    Rule("write-device", Verdict.BLOCK, "writes to a device, or copies raw blocks with dd"),
    Rule("format-disk", Verdict.BLOCK, "formats or partitions a disk"),
    Rule("read-secret", Verdict.BLOCK, "reads passwords, keys or tokens of the system"),
    Rule("read-environ", Verdict.BLOCK, "reads another process's environment or memory"),
    Rule(
        "send-environment", Verdict.BLOCK, "sends the environment, which may hold secrets, over the network"
    ),
    Rule("cloud-metadata", Verdict.BLOCK, "asks the cloud's metadata service, which hands out credentials"),
    Rule("run-download", Verdict.BLOCK, "runs what comes from the network without a look at it"),
    Rule("run-decoded", Verdict.BLOCK, "runs a text that was encoded to hide it"),
    Rule("run-unseen", Verdict.BLOCK, "feeds a shell with a text that can't be known beforehand"),
    Rule("preload", Verdict.BLOCK, "makes programs load foreign libraries"),
    Rule("reverse-shell", Verdict.BLOCK, "ties a shell to the network"),
    Rule("fork-bomb", Verdict.BLOCK, "starts processes without end"),
    Rule("kill-all", Verdict.BLOCK, "ends every process, or the sandbox's own"),
    Rule("power", Verdict.BLOCK, "stops or restarts the machine"),
    Rule("kernel", Verdict.BLOCK, "changes the kernel, mounts or the firewall"),
    Rule("escape", Verdict.BLOCK, "reaches for the world outside the sandbox"),
    Rule("accounts", Verdict.BLOCK, "changes accounts, passwords or who may become root"),
    Rule("open-system", Verdict.BLOCK, "changes permissions or owners of the system's files"),
    Rule("open-permissions", Verdict.WARN, "lets everybody write, or makes a program run as its owner"),
    Rule("privilege", Verdict.WARN, "asks for another user's rights, which a sandbox does not have"),
    Rule("change-path", Verdict.WARN, "changes where programs are looked for"),
    Rule("install", Verdict.WARN, "installs packages, which last only as long as the sandbox"),
    Rule("saved-download", Verdict.WARN, "runs a file that it has just downloaded"),
    Rule("run-variable", Verdict.WARN, "runs a text that is known only when it runs"),
    Rule("wide-delete", Verdict.WARN, "deletes by a pattern all over a home or thread's folder"),
)
RULES: dict[str, Rule] = {rule.id: rule for rule in _ALL}
