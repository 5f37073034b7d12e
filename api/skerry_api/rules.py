"""The cross-field rules of the API: each as CEL for the API server and as a Python predicate for offline checks.

One table, so that the two can't drift apart unseen; an integration test runs both over the same objects.
Predicates see plain JSON values that fit the schema, with defaults filled in.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from skerry_api.names import RESERVED_SKILLS
from skerry_api.phases import TERMINAL

__all__ = ["RULES", "Rule", "immutable_field", "immutable_whole", "key_length", "quantity"]

Reason = Literal["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired"]


@dataclass(frozen=True)
class Rule:
    """`holds(value, old)`: value is what the rule stands on, old its former self for transition rules."""

    cel: str
    message: str
    holds: Callable[[Any, Any], bool]
    field_path: str | None = None
    """Path below the rule's place that the server's answer names, as `.a.b`."""
    reason: Reason = "FieldValueInvalid"
    cluster: bool = False
    """Whether it is about Pods and their volumes, and so nothing to `skerry run`, which always keeps a data directory."""

    @property
    def transition(self) -> bool:
        """Whether it compares with the object as it was, and so is skipped at creation."""
        return "oldSelf" in self.cel

    def wire(self) -> dict[str, str]:
        """The entry of `x-kubernetes-validations`."""
        entry = {"rule": self.cel, "message": self.message}
        if self.field_path:
            entry["fieldPath"] = self.field_path
        if self.reason != "FieldValueInvalid":
            entry["reason"] = self.reason
        return entry


_SCALES = {"k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}


def quantity(text: str) -> Decimal:
    """Value of a Kubernetes quantity as our schema admits it, e.g. `100m` is 0.1, `1Ki` is 1024."""
    if text.endswith("i"):
        return Decimal(text[:-2]) * Decimal(1024) ** _SCALES[text[-2]]
    if text.endswith("m"):
        return Decimal(text[:-1]) / 1000
    if text[-1] in _SCALES:
        return Decimal(text[:-1]) * Decimal(1000) ** _SCALES[text[-1]]
    return Decimal(text)


def _is_cidr(text: str) -> bool:
    try:
        network = ipaddress.ip_interface(text)
    except ValueError:
        return False
    bits = text.rpartition("/")[2]
    mapped = network.version == 6 and network.ip.ipv4_mapped
    return not mapped and bits == str(int(bits))  # As strict as the server: no ::ffff:a.b.c.d, no /08.


def _requests_fit(resources: dict[str, Any]) -> bool:
    limits = resources.get("limits", {})
    return all(
        quantity(amount) <= quantity(limits[name])
        for name, amount in resources.get("requests", {}).items()
        if name in limits
    )


def _terminal_stays(run: dict[str, Any], old: dict[str, Any]) -> bool:
    before = old.get("status", {}).get("phase")
    return before not in TERMINAL or run.get("status", {}).get("phase") == before


def _keeps_less(summarization: dict[str, Any]) -> bool:
    keep = summarization.get("keep", {})
    return all(
        Decimal(keep[unit]) < Decimal(size[unit])
        for size in summarization.get("trigger", ())
        for unit in ("messages", "tokens", "fraction")
        if unit in keep and unit in size
    )


def _memory(spec: dict[str, Any]) -> dict[str, Any]:
    memory: dict[str, Any] = spec.get("pipeline", {}).get("memory", {})
    return memory


def _persistence(spec: dict[str, Any]) -> str:
    return str(spec.get("persistence", {}).get("type", "Ephemeral"))


def _label_name(kind: str, limit: int) -> dict[str, Rule]:
    """Names that end up in label values and host names: short, and without dots."""
    return {
        f"{kind}-name-length": Rule(
            f"self.metadata.name.size() <= {limit}",
            f"must have at most {limit} characters: names of Pods and labels are made from it",
            lambda o, _: len(o["metadata"]["name"]) <= limit,
            ".metadata.name",
        ),
        f"{kind}-name-label": Rule(
            "!self.metadata.name.contains('.')",
            "must be a DNS label: lower-case letters, digits and '-', no dots",
            lambda o, _: "." not in o["metadata"]["name"],
            ".metadata.name",
        ),
    }


_ENDS = ", ".join(f"'{phase}'" for phase in sorted(TERMINAL))

RULES: dict[str, Rule] = {
    **_label_name("run", 52),
    **_label_name("sandbox", 63),
    # At the root: a rule on status is skipped when status is removed as a whole.
    "terminal-phase": Rule(
        "!has(oldSelf.status) || !has(oldSelf.status.phase)"
        f" || !(oldSelf.status.phase in [{_ENDS}])"
        " || (has(self.status) && has(self.status.phase) && self.status.phase == oldSelf.status.phase)",
        "a terminal phase can't be left",
        _terminal_stays,
        ".status.phase",
        "FieldValueForbidden",
    ),
    "one-prompt": Rule(
        "has(self.prompt) != has(self.promptFrom)",
        "exactly one of prompt and promptFrom is required",
        lambda s, _: ("prompt" in s) != ("promptFrom" in s),
        ".prompt",
    ),
    "file-name": Rule(
        "self != '.' && self != '..' && bytes(self).size() <= 255",
        "must be the name of a file: not . or .., at most 255 bytes",
        lambda s, _: s not in {".", ".."} and len(s.encode("utf-8", "surrogatepass")) <= 255,
    ),
    "one-file-source": Rule(
        "has(self.inline) != has(self.configMapKeyRef)",
        "exactly one of inline and configMapKeyRef is required",
        lambda s, _: ("inline" in s) != ("configMapKeyRef" in s),
        ".inline",
    ),
    "inline-files-size": Rule(
        "self.map(file, has(file.inline) ? bytes(file.inline).size() : 0).sum() <= 262144",
        "inline files must have at most 262144 bytes in all; put larger ones into ConfigMaps",
        lambda s, _: sum(len(f.get("inline", "").encode("utf-8", "surrogatepass")) for f in s) <= 262_144,
    ),
    "one-script": Rule(
        "!(has(self.script) && has(self.scriptRef))",
        "script and scriptRef exclude each other",
        lambda s, _: not ("script" in s and "scriptRef" in s),
        ".scriptRef",
    ),
    "cidr": Rule(
        "isCIDR(self)", "must be a CIDR, e.g. 192.0.2.0/24 or 2001:db8::/64", lambda s, _: _is_cidr(s)
    ),
    "requests-fit": Rule(
        "!has(self.requests) || !has(self.limits) || self.requests.all(name, !(name in self.limits)"
        " || !isQuantity(self.requests[name]) || !isQuantity(self.limits[name])"
        " || quantity(self.requests[name]).compareTo(quantity(self.limits[name])) <= 0)",
        "a request must not exceed the limit of the same resource",
        lambda s, _: _requests_fit(s),
        ".requests",
    ),
    "one-history-size": Rule(
        "[has(self.messages), has(self.tokens), has(self.fraction)].filter(given, given).size() == 1",
        "exactly one of messages, tokens and fraction is required",
        lambda s, _: sum(unit in s for unit in ("messages", "tokens", "fraction")) == 1,
    ),
    "summary-shrinks": Rule(
        "!has(self.keep) || !has(self.trigger) || self.trigger.all(t,"
        " (!has(t.messages) || !has(self.keep.messages) || self.keep.messages < t.messages)"
        " && (!has(t.tokens) || !has(self.keep.tokens) || self.keep.tokens < t.tokens)"
        " && (!has(t.fraction) || !has(self.keep.fraction)"
        " || double(self.keep.fraction) < double(t.fraction)))",
        "keep must be less than every trigger of the same unit, or nothing would ever be summarised",
        lambda s, _: _keeps_less(s),
        ".keep",
    ),
    "memory-kept": Rule(
        "!has(self.pipeline) || !has(self.pipeline.memory) || !has(self.pipeline.memory.enabled)"
        " || !self.pipeline.memory.enabled"
        " || (has(self.persistence) && has(self.persistence.type) && self.persistence.type != 'Ephemeral')",
        "needs persistence.type Volume or Postgres: facts would be gone with the runner Pod",
        lambda s, _: not _memory(s).get("enabled") or _persistence(s) != "Ephemeral",
        ".pipeline.memory.enabled",
        cluster=True,
    ),
    "memory-debounced": Rule(
        "!has(self.pipeline) || !has(self.pipeline.memory) || !has(self.pipeline.memory.enabled)"
        " || !self.pipeline.memory.enabled || !has(self.pipeline.memory.flush)"
        " || self.pipeline.memory.flush != 'Debounced'"
        " || (has(self.persistence) && has(self.persistence.type) && self.persistence.type == 'Postgres')",
        "flush Debounced needs persistence.type Postgres: who flushes later can't reach a thread's volume",
        lambda s, _: (
            not _memory(s).get("enabled")
            or _memory(s).get("flush") != "Debounced"
            or _persistence(s) == "Postgres"
        ),
        ".pipeline.memory.flush",
        cluster=True,
    ),
    "volume-only": Rule(
        # has(): the server also tries rules on the bare default, before it fills in defaults inside.
        "!has(self.volume) || (has(self.type) && self.type == 'Volume')",
        "is for type Volume",
        lambda s, _: s["type"] == "Volume" or "volume" not in s,
        ".volume",
        "FieldValueForbidden",
    ),
    "postgres-only": Rule(
        "!has(self.postgres) || (has(self.type) && self.type == 'Postgres')",
        "is for type Postgres",
        lambda s, _: s["type"] == "Postgres" or "postgres" not in s,
        ".postgres",
        "FieldValueForbidden",
    ),
    "postgres-dsn": Rule(
        "!has(self.type) || self.type != 'Postgres' || has(self.postgres)",
        "is required with type Postgres",
        lambda s, _: s["type"] != "Postgres" or "postgres" in s,
        ".postgres",
        "FieldValueRequired",
    ),
    "loop-warn": Rule(
        "!has(self.warn) || !has(self.hard) || self.warn <= self.hard",
        "must not be larger than hard",
        lambda s, _: not {"warn", "hard"} <= s.keys() or s["warn"] <= s["hard"],
        ".warn",
    ),
    "loop-window": Rule(
        # The server checks a default of {} before it fills it in.
        "!has(self.hard) || !has(self.window) || self.hard <= self.window",
        "must not be larger than window, or it is never reached",
        lambda s, _: not {"hard", "window"} <= s.keys() or s["hard"] <= s["window"],
        ".hard",
    ),
    "loop-any-tool": Rule(
        "!has(self.toolWarn) || !has(self.toolHard) || self.toolWarn <= self.toolHard",
        "must not be larger than toolHard",
        lambda s, _: not {"toolWarn", "toolHard"} <= s.keys() or s["toolWarn"] <= s["toolHard"],
        ".toolWarn",
    ),
    "subagent-name": Rule(
        "self.name != 'lead'",
        "lead is the name of the run's own agent",
        lambda s, _: s["name"] != "lead",
        ".name",
    ),
    "subagent-tools": Rule(
        "!has(self.tools) || !self.tools.exists(name, name in ['view_image', 'present_files', 'ask_clarification'])",
        "view_image, present_files and ask_clarification are tools of the run's own agent alone",
        lambda s, _: not {"view_image", "present_files", "ask_clarification"} & set(s.get("tools", ())),
        ".tools",
    ),
    "one-guardrail-test": Rule(
        "[has(self.glob), has(self.regex), has(self.hosts) && self.hosts.size() > 0].filter(given, given).size() == 1",
        "exactly one of glob, regex and hosts is required",
        lambda s, _: ("glob" in s) + ("regex" in s) + bool(s.get("hosts")) == 1,
    ),
    "some-guardrail": Rule(
        "has(self.allow) || (has(self.deny) && self.deny.size() > 0) || (has(self.rules) && self.rules.size() > 0)"
        " || has(self.http) || has(self.path)",
        "at least one of allow, deny, rules, http and path is required",
        lambda s, _: (
            "allow" in s or bool(s.get("deny")) or bool(s.get("rules")) or "http" in s or "path" in s
        ),
    ),
    "skill-name": Rule(
        f"!(self in {sorted(RESERVED_SKILLS)})",  # Python writes such a list as CEL does
        f"must not be a word that front ends use: {', '.join(sorted(RESERVED_SKILLS))}",
        lambda s, _: s not in RESERVED_SKILLS,
    ),
    "mcp-http": Rule(
        "self.transport != 'StreamableHTTP' || has(self.url)",
        "is required with transport StreamableHTTP",
        lambda s, _: s["transport"] != "StreamableHTTP" or "url" in s,
        ".url",
        "FieldValueRequired",
    ),
    "mcp-stdio": Rule(
        "self.transport != 'Stdio' || has(self.command)",
        "is required with transport Stdio",
        lambda s, _: s["transport"] != "Stdio" or "command" in s,
        ".command",
        "FieldValueRequired",
    ),
    "mcp-http-only": Rule(
        "self.transport == 'StreamableHTTP' || (!has(self.url) && !has(self.headersSecretRef))",
        "url and headersSecretRef are for transport StreamableHTTP",
        lambda s, _: s["transport"] == "StreamableHTTP" or not ("url" in s or "headersSecretRef" in s),
        ".transport",
        "FieldValueForbidden",
    ),
    "mcp-stdio-only": Rule(
        "self.transport == 'Stdio' || (!has(self.command) && (!has(self.args) || self.args.size() == 0)"
        " && (!has(self.env) || self.env.size() == 0))",
        "command, args and env are for transport Stdio",
        lambda s, _: s["transport"] == "Stdio" or not ("command" in s or s.get("args") or s.get("env")),
        ".transport",
        "FieldValueForbidden",
    ),
    "toleration-value": Rule(
        "!has(self.operator) || self.operator != 'Exists' || !has(self.value) || self.value == ''",
        "must be empty when operator is Exists",
        lambda s, _: s.get("operator") != "Exists" or not s.get("value"),
        ".value",
    ),
    "toleration-key": Rule(
        "(has(self.key) && self.key != '') || (has(self.operator) && self.operator == 'Exists')",
        "operator must be Exists when key is empty",
        lambda s, _: bool(s.get("key")) or s.get("operator") == "Exists",
        ".operator",
    ),
    "toleration-seconds": Rule(
        "!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",
        "effect must be NoExecute when tolerationSeconds is set",
        lambda s, _: "tolerationSeconds" not in s or s.get("effect") == "NoExecute",
        ".effect",
    ),
}
"""By the names that models give to `validations()`."""

_ABSENT = object()


def immutable_field(name: str, *, required: bool) -> Rule:
    """A rule on the spec that keeps one of its fields as it was made: no change, no removal, no addition."""
    same = f"self.{name} == oldSelf.{name}"
    return Rule(
        same if required else f"has(self.{name}) == has(oldSelf.{name}) && (!has(self.{name}) || {same})",
        f"{name} can't be changed after creation",
        lambda s, old: s.get(name, _ABSENT) == old.get(name, _ABSENT),
        f".{name}",
        "FieldValueForbidden",
    )


def immutable_whole() -> Rule:
    """A rule that keeps all of what it stands on as it was made."""
    return Rule(
        "self == oldSelf",
        "can't be changed after creation",
        lambda s, old: bool(s == old),
        reason="FieldValueForbidden",
    )


def key_length(limit: int) -> Rule:
    """A rule on a map: structural schemas can't bound the length of keys."""
    return Rule(
        f"self.all(key, key.size() <= {limit})",
        f"keys must have at most {limit} characters",
        lambda s, _: all(len(key) <= limit for key in s),
    )
