"""Good and bad pipelines and MCP servers of a profile, with the fields at fault; `manifests` makes profiles of them."""

from __future__ import annotations

from typing import Any

__all__ = ["PIPELINE_SPECS"]

Json = dict[str, Any]
SUMMARY = "spec.pipeline.summarization"
ADAPTERS = "spec.pipeline.safetyFinishReason.adapters"
LOOP = "spec.pipeline.loopDetection"
VOLUME = {"type": "Volume"}
POSTGRES = {"type": "Postgres", "postgres": {"dsnSecretRef": {"name": "pg", "key": "dsn"}}}
SERVER = "spec.mcpServers[0]"
AGENT = "spec.subagents.types[0]"


def _summary(**settings: Any) -> Json:
    return {"pipeline": {"summarization": settings}}


def _memory(persistence: Json | None = None, **settings: Any) -> Json:
    return {"pipeline": {"memory": settings}, **({"persistence": persistence} if persistence else {})}


def _server(**fields: Any) -> Json:
    return {"mcpServers": [{"name": "wiki", **fields}]}


def _loop(**settings: Any) -> Json:
    return {"pipeline": {"loopDetection": settings}}


def _skills(*names: str, **fields: Any) -> Json:
    return {"skills": [{"name": name, "configMapRef": {"name": "c"}, **fields} for name in names]}


def _custom(*paths: str, **fields: Any) -> Json:
    return {"pipeline": {"custom": [{"path": path, **fields} for path in paths]}}


def _agents(*types: Json, **fields: Any) -> Json:
    return {"subagents": {"enabled": True, "types": list(types), **fields}}


def _critic(**fields: Any) -> Json:
    return {"name": "critic", "description": "Finds faults.", **fields}


def _rules(*rules: Json) -> Json:
    return {"guardrail": {"rules": [{"tool": "read_file", "argument": "path", **rule} for rule in rules]}}


def _web(**fields: Any) -> Json:
    return _server(transport="StreamableHTTP", url="https://x/mcp", **fields)


def _process(**fields: Any) -> Json:
    return _server(transport="Stdio", command="wiki", **fields)


PIPELINE_SPECS: tuple[tuple[str, Json, str], ...] = (
    ("pipeline: empty", {"pipeline": {}}, ""),
    ("pipeline: a row that is none", {"pipeline": {"polish": {}}}, "spec.pipeline.polish"),
    ("pipeline: attempts of zero", {"pipeline": {"llmErrorHandling": {"maxAttempts": 0}}},
     "spec.pipeline.llmErrorHandling.maxAttempts"),
    ("summary: one unit each", _summary(trigger=[{"messages": 9}, {"tokens": 900}], keep={"messages": 8}), ""),
    ("summary: two units", _summary(trigger=[{"messages": 90, "tokens": 900}]), f"{SUMMARY}.trigger[0]"),
    ("summary: no unit", _summary(trigger=[{}]), f"{SUMMARY}.trigger[0]"),
    ("summary: no trigger", _summary(trigger=[]), f"{SUMMARY}.trigger"),
    ("summary: keeps what triggers it", _summary(trigger=[{"messages": 20}]), f"{SUMMARY}.keep"),
    ("summary: a fraction above one", _summary(trigger=[{"fraction": "1.5"}]), f"{SUMMARY}.trigger[0].fraction"),
    ("memory: of an agent of one's own", _memory(agent="coder", minConfidence="0.85"), ""),
    ("memory: confidence above one", _memory(minConfidence="1.5"), "spec.pipeline.memory.minConfidence"),
    ("memory: an agent that is no label", _memory(agent="The Coder"), "spec.pipeline.memory.agent"),
    ("memory: on a volume", _memory(VOLUME, enabled=True), ""),
    ("memory: in a database, later", _memory(POSTGRES, enabled=True, flush="Debounced"), ""),
    ("memory: gone with the Pod", _memory(enabled=True), "spec.pipeline.memory.enabled"),
    ("memory: off, whatever it says", _memory(enabled=False, flush="Debounced"), ""),
    ("memory: later, where nobody can", _memory(VOLUME, enabled=True, flush="Debounced"), "spec.pipeline.memory.flush"),
    ("memory: no such flush", _memory(flush="Never"), "spec.pipeline.memory.flush"),
    ("safety: no adapters", {"pipeline": {"safetyFinishReason": {"adapters": []}}}, ADAPTERS),
    ("loop: a warning at the limit", _loop(warn=5, tools=[{"name": "bash", "warn": 90, "hard": 90}]), ""),
    ("loop: a warning beyond the limit", _loop(warn=6), f"{LOOP}.warn"),
    ("loop: a limit beyond the window", _loop(hard=6, window=5), f"{LOOP}.hard"),
    ("loop: a tool's warning beyond its limit", _loop(toolHard=29), f"{LOOP}.toolWarn"),
    ("loop: one tool's warning beyond its limit", _loop(tools=[{"name": "bash", "warn": 2, "hard": 1}]),
     f"{LOOP}.tools[0].warn"),
    ("loop: a tool twice", _loop(tools=[{"name": "bash", "warn": 1, "hard": 1}] * 2), f"{LOOP}.tools[1]"),
    ("title: no model's name", {"pipeline": {"title": {"model": ""}}}, "spec.pipeline.title.model"),
    ("audit: rules that don't count", {"pipeline": {"sandboxAudit": {"ignoredRules": ["install"]}}}, ""),
    ("audit: a rule that is none", {"pipeline": {"sandboxAudit": {"ignoredRules": ["A rule"]}}},
     "spec.pipeline.sandboxAudit.ignoredRules[0]"),
    ("audit: commands of no length", {"pipeline": {"sandboxAudit": {"maxCommandChars": 0}}},
     "spec.pipeline.sandboxAudit.maxCommandChars"),
    ("guardrail: lists", {"guardrail": {"allow": [], "deny": ["bash"]}}, ""),
    ("guardrail: rules", _rules({"glob": "/secrets/*"}, {"regex": "^a"}, {"hosts": ["*.example.com", "[::1]", "10.0.0.0/8"], "action": "Allow"}), ""),
    ("guardrail: an endpoint and a class", {"guardrail": {"http": {"url": "http://opa:8181/v1/data/x"}, "path": "team.policy:Policy"}}, ""),
    ("guardrail: none", {"guardrail": {}}, "spec.guardrail"),
    ("guardrail: empty lists", {"guardrail": {"deny": [], "rules": []}}, "spec.guardrail"),
    ("guardrail: a rule without a test", _rules({}), "spec.guardrail.rules[0]"),
    ("guardrail: a rule with two", _rules({"glob": "*"}, {"glob": "*", "regex": "x"}), "spec.guardrail.rules[1]"),
    ("guardrail: an action that is none", _rules({"glob": "*", "action": "Ask"}), "spec.guardrail.rules[0].action"),
    ("guardrail: a host with a path", _rules({"hosts": ["https://example.com"]}), "spec.guardrail.rules[0].hosts[0]"),
    ("guardrail: no url", {"guardrail": {"http": {"url": "opa:8181"}}}, "spec.guardrail.http.url"),
    ("guardrail: a path without class", {"guardrail": {"path": "team.policy"}}, "spec.guardrail.path"),
    ("custom: a middleware", _custom("team.rows:Polite", settings={"word": "please"}), ""),
    ("custom: a path without class", _custom("team.rows"), "spec.pipeline.custom[0].path"),
    ("custom: a path with a line break", _custom("team.rows:Polite\n"), "spec.pipeline.custom[0].path"),
    ("custom: one twice", _custom("a:B", "a:B"), "spec.pipeline.custom[1]"),
    ("subagents: the built-in ones", _agents(), ""),
    ("subagents: a type", _agents(_critic(tools=[], systemPrompt="Be strict.", maxTurns=1, maxTokens=1, timeoutSeconds=1)), ""),
    ("subagents: one in the place of a built-in", _agents(_critic(name="bash")), ""),
    ("subagents: the lead's name", _agents(_critic(name="lead")), f"{AGENT}.name"),
    ("subagents: a name in capitals", _agents(_critic(name="Critic")), f"{AGENT}.name"),
    ("subagents: no description", _agents({"name": "critic"}), f"{AGENT}.description"),
    ("subagents: a tool of the lead's", _agents(_critic(tools=["ls", "present_files"])), f"{AGENT}.tools"),
    ("subagents: a tool that is none", _agents(_critic(tools=["task"])), f"{AGENT}.tools[0]"),
    ("subagents: no turns", _agents(_critic(maxTurns=0)), f"{AGENT}.maxTurns"),
    ("subagents: no tokens", _agents(_critic(maxTokens=0)), f"{AGENT}.maxTokens"),
    ("subagents: no time", _agents(_critic(timeoutSeconds=0)), f"{AGENT}.timeoutSeconds"),
    ("subagents: two of one name", _agents(_critic(), _critic()), "spec.subagents.types[1]"),
    ("subagents: none side by side", {"pipeline": {"subagentLimit": {"maxConcurrent": 0}}},
     "spec.pipeline.subagentLimit.maxConcurrent"),
    ("skills: on and off", _skills("pdf", enabled=False), ""),
    ("skills: two of one name", _skills("pdf", "pdf"), "spec.skills[1]"),
    ("skills: a name that is none", _skills("PDF"), "spec.skills[0].name"),
    ("skills: a name with a line break", _skills("pdf\n"), "spec.skills[0].name"),
    ("skills: a name that front ends use", _skills("help"), "spec.skills[0].name"),
    ("skills: no ConfigMap", {"skills": [{"name": "pdf"}]}, "spec.skills[0].configMapRef"),
    ("skills: a ConfigMap without name", {"skills": [{"name": "pdf", "configMapRef": {}}]},
     "spec.skills[0].configMapRef.name"),
    ("skills: allowed", {"pipeline": {"skillActivation": {"allowed": ["pdf", "pdf"]}}},
     "spec.pipeline.skillActivation.allowed[1]"),
    ("mcp: over HTTP", _web(headersSecretRef={"name": "s", "key": "k"}, deferred=False), ""),
    ("mcp: a process", _process(args=["-v"], env=[{"name": "A", "value": "b"}]), ""),
    ("mcp: no transport", _server(url="https://x/mcp"), f"{SERVER}.transport"),
    ("mcp: HTTP without url", _server(transport="StreamableHTTP"), f"{SERVER}.url"),
    ("mcp: HTTP with a command", _web(command="wiki"), f"{SERVER}.transport"),
    ("mcp: a process without command", _server(transport="Stdio"), f"{SERVER}.command"),
    ("mcp: a process with a url", _process(url="https://x/mcp"), f"{SERVER}.transport"),
    ("mcp: two of one name", {"mcpServers": [*_web()["mcpServers"], *_process()["mcpServers"]]}, "spec.mcpServers[1]"),
)  # fmt: skip
