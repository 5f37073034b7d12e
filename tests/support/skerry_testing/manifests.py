"""Good and bad manifests with the fields at fault: one table for the offline checks and for the real API server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from skerry_testing.pipelinecases import PIPELINE_SPECS

__all__ = ["CASES", "Case", "a_class", "a_profile", "a_run", "a_sandbox"]

Json = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A manifest and the paths that must be named when it is refused; none if it is good."""

    id: str
    manifest: Json
    faults: frozenset[str] = frozenset()


def _object(kind: str, spec: Json, name: str = "a", **metadata: Any) -> Json:
    meta = {"name": name, **metadata}
    return {"apiVersion": "skerry.dev/v1alpha1", "kind": kind, "metadata": meta, "spec": spec}


def a_run(name: str = "a", metadata: Json | None = None, **spec: Any) -> Json:
    """A good AgentRun with fields of its spec laid over; a field given as ... is left out."""
    given = {"profileRef": {"name": "p"}, "prompt": "hello", **spec}
    kept = {key: value for key, value in given.items() if value is not ...}
    return _object("AgentRun", kept, name, **(metadata or {}))


def a_profile(name: str = "a", model: Json | None = None, **spec: Any) -> Json:
    return _object("AgentProfile", {"model": {"name": "scripted", **(model or {})}, **spec}, name)


def a_sandbox(name: str = "a", **spec: Any) -> Json:
    given = {"classRef": {"name": "default"}, "threadId": "t", **spec}
    return _object("Sandbox", {key: value for key, value in given.items() if value is not ...}, name)


def a_class(name: str = "a", template: Json | None = None, **spec: Any) -> Json:
    return _object("SandboxClass", {**({"template": template} if template else {}), **spec}, name)


def _meta(**metadata: Any) -> Json:
    """A good run with other metadata; a field given as ... is left out."""
    manifest = a_run()
    manifest["metadata"] = {k: v for k, v in {"name": "a", **metadata}.items() if v is not ...}
    return manifest


def _tolerates(**toleration: Any) -> Json:
    return a_class(template={"tolerations": [toleration]})


def _resources(requests: Json, limits: Json) -> Json:
    return a_class(template={"resources": {"requests": requests, "limits": limits}})


def _allows(*cidrs: str) -> Json:
    return a_class(network={"allow": list(cidrs)})


FROM = {"configMapKeyRef": {"name": "c", "key": "k"}}
TOLERATION = "spec.template.tolerations[0]"
RESOURCES = "spec.template.resources"

_RUN_CASES: list[tuple[str, Json, str]] = [
    ("run: least", a_run(), ""),
    ("run: all fields", a_run(
        userId="ann@example.org", threadId="chat/7", retries=0, cancel=True, ttlSecondsAfterFinished=0,
        model={"name": "openai:gpt-4o", "parameters": {"temperature": "0.2"}, "script": "x"},
        sandbox={"classRef": {"name": "gpu.big"}, "acquire": "Eager"},
        limits={"startupDeadlineSeconds": 1, "activeDeadlineSeconds": 2592000, "maxTurns": 10000},
    ), ""),
    ("run: prompt from a ConfigMap", a_run(prompt=..., promptFrom=FROM), ""),
    ("run: nulls are absence", a_run(threadId=None, model=None, retries=None, limits={"maxTurns": None}), ""),
    ("run: null of a required field", a_run(profileRef=None), "spec.profileRef"),
    ("run: limits empty", a_run(limits={}), ""),
    ("run: integral float", a_run(retries=3.0), ""),
    ("run: a fraction", a_run(retries=2.5), "spec.retries"),
    ("run: number beyond 64 bits", a_run(ttlSecondsAfterFinished=10**20), "spec.ttlSecondsAfterFinished"),
    ("run: no prompt", a_run(prompt=...), "spec.prompt"),
    ("run: both prompts", a_run(promptFrom=FROM), "spec.prompt"),
    ("run: files", a_run(files=[
        {"name": "Résumé (1).pdf", "inline": ""}, {"name": "..x", **FROM}, {"name": "ä" * 127, "inline": "x"},
    ]), ""),
    ("run: file without contents", a_run(files=[{"name": "a"}]), "spec.files[0].inline"),
    ("run: file with two contents", a_run(files=[{"name": "a", "inline": "x", **FROM}]), "spec.files[0].inline"),
    ("run: file named as a path", a_run(files=[{"name": "../a", "inline": "x"}]), "spec.files[0].name"),
    ("run: file named ..", a_run(files=[{"name": "..", "inline": "x"}]), "spec.files[0].name"),
    ("run: file name with a line break", a_run(files=[{"name": "a\nb", "inline": "x"}]), "spec.files[0].name"),
    ("run: file name of too many bytes", a_run(files=[{"name": "ä" * 128, "inline": "x"}]), "spec.files[0].name"),
    ("run: two files of one name", a_run(files=[{"name": "a", "inline": "x"}, {"name": "a", "inline": "y"}]),
     "spec.files[1]"),
    ("run: inline files of the most", a_run(files=[
        {"name": "a", "inline": "ä" * 65536}, {"name": "b", "inline": "x" * 131072},
    ]), ""),
    ("run: inline files of too many bytes", a_run(files=[
        {"name": "a", "inline": "ä" * 65536}, {"name": "b", "inline": "x" * 131073},
    ]), "spec.files"),
    ("run: answers", a_run(answers=[{"questionId": "q-1", "text": "a"}, {"questionId": "q-2", "text": "ä" * 8192}]), ""),
    ("run: two answers for one question", a_run(
        answers=[{"questionId": "q-1", "text": "a"}, {"questionId": "q-1", "text": "b"}]), "spec.answers[1]"),
    ("run: answer for no question", a_run(answers=[{"text": "a"}]), "spec.answers[0].questionId"),
    ("run: answer without text", a_run(answers=[{"questionId": "q"}]), "spec.answers[0].text"),
    ("run: empty answer", a_run(answers=[{"questionId": "q", "text": ""}]), "spec.answers[0].text"),
    ("run: answer too long", a_run(answers=[{"questionId": "q", "text": "ä" * 8193}]), "spec.answers[0].text"),
    ("run: too many answers", a_run(answers=[{"questionId": f"q-{i}", "text": "a"} for i in range(65)]), "spec.answers"),
    ("run: empty prompt", a_run(prompt=""), "spec.prompt"),
    ("run: prompt of the longest", a_run(prompt="ä" * 65536), ""),
    ("run: prompt too long", a_run(prompt="ä" * 65537), "spec.prompt"),
    ("run: no profile", a_run(profileRef=...), "spec.profileRef"),
    ("run: profile without name", a_run(profileRef={}), "spec.profileRef.name"),
    ("run: profile by bare name", a_run(profileRef="p"), "spec.profileRef"),
    ("run: profile name in capitals", a_run(profileRef={"name": "P"}), "spec.profileRef.name"),
    ("run: profile name with line break", a_run(profileRef={"name": "p\n"}), "spec.profileRef.name"),
    ("run: profile name empty", a_run(profileRef={"name": ""}), "spec.profileRef.name"),
    ("run: unknown field", a_run(promt="x"), "spec.promt"),
    ("run: unknown field below", a_run(limits={"maxTokns": 5}), "spec.limits.maxTokns"),
    ("run: unknown field beside spec", {**a_run(), "specs": {}}, "specs"),
    ("run: unknown field in metadata", _meta(label={}), "metadata.label"),
    ("run: a baseUrl", a_run(model={"baseUrl": "http://x"}), "spec.model.baseUrl"),
    ("run: retries above", a_run(retries=6), "spec.retries"),
    ("run: retries below", a_run(retries=-1), "spec.retries"),
    ("run: retries as text", a_run(retries="2"), "spec.retries"),
    ("run: retries as boolean", a_run(retries=True), "spec.retries"),
    ("run: cancel as text", a_run(cancel="yes"), "spec.cancel"),
    ("run: cancel as number", a_run(cancel=1), "spec.cancel"),
    ("run: limit of zero", a_run(limits={"maxTurns": 0}), "spec.limits.maxTurns"),
    ("run: two limits wrong", a_run(limits={"maxTurns": 0, "activeDeadlineSeconds": 0}),
     "spec.limits.maxTurns spec.limits.activeDeadlineSeconds"),
    ("run: acquire in lower case", a_run(sandbox={"acquire": "eager"}), "spec.sandbox.acquire"),
    ("run: userId with a space", a_run(userId="an n"), "spec.userId"),
    ("run: userId too long", a_run(userId="u" * 129), "spec.userId"),
    ("run: threadId empty", a_run(threadId=""), "spec.threadId"),
    ("run: spec missing", {k: v for k, v in a_run().items() if k != "spec"}, "spec"),
    ("run: spec a list", {**a_run(), "spec": []}, "spec"),
    ("run: model a list", a_run(model=["scripted"]), "spec.model"),
    ("run: parameter a number", a_run(model={"parameters": {"temperature": 0.2}}),
     "spec.model.parameters.temperature"),
    ("run: parameter key of the longest", a_run(model={"parameters": {"k" * 64: "1"}}), ""),
    ("run: parameter key too long", a_run(model={"parameters": {"k" * 65: "1"}}), "spec.model.parameters"),
    ("run: too many parameters", a_run(model={"parameters": {f"k{n}": "1" for n in range(33)}}),
     "spec.model.parameters"),
    ("run: status in the manifest", {**a_run(), "status": {"phase": "Succeeded"}}, ""),
    ("run: unknown field in status", {**a_run(), "status": {"phse": "Succeeded"}}, "status.phse"),
    ("run: name of 52", a_run(name="a" * 52), ""),
    ("run: name of 53", a_run(name="a" * 53), "metadata.name"),
    ("run: name with a dot", a_run(name="a.b"), "metadata.name"),
    ("run: name in capitals", a_run(name="A"), "metadata.name"),
    ("run: no name", _meta(name=...), "metadata.name"),
    ("run: generated name", _meta(name=..., generateName="a-"), ""),
    ("run: generated name too long", _meta(name=..., generateName="a" * 48), "metadata.name"),
    ("run: labels", _meta(labels={"app.kubernetes.io/name": "x", "empty": ""}), ""),
    ("run: label value with a space", _meta(labels={"a": "b c"}), "metadata.labels"),
    ("run: label key with a space", _meta(labels={"a b": "c"}), "metadata.labels"),
    ("run: annotation key with a space", _meta(annotations={"a b": "c"}), "metadata.annotations"),
    ("run: annotations too large", _meta(annotations={"a": "c" * 262144}), "metadata.annotations"),
]  # fmt: skip

_DATABASE: Json = {"type": "Postgres", "postgres": {"dsnSecretRef": {"name": "s", "key": "k"}}}
_PROFILE_CASES: list[tuple[str, Json, str]] = [
    ("profile: least", a_profile(), ""),
    ("profile: all fields", a_profile(
        model={"name": "openai:x", "baseUrl": "https://x/v1", "apiKeySecretRef": {"name": "s", "key": "k"},
               "parameters": {"seed": "1"}, "script": "x"},
        systemPrompt="be good", allowedModels=["openai:y"], allowedClasses=["gpu"],
        sandbox={"classRef": {"name": "c"}, "acquire": "Eager", "allowLocalBash": True},
        tools={"enabled": ["bash", "ls"]},
        runner={"image": "i", "imagePullPolicy": "Never", "resources": {"limits": {"cpu": "2"}},
                "network": {"allow": ["192.0.2.0/24"]}},
        runnerPodRetentionSeconds=0,
    ), ""),
    ("profile: no model", {**a_profile(), "spec": {}}, "spec.model"),
    ("profile: script twice", a_profile(model={"script": "x", "scriptRef": FROM}), "spec.model.scriptRef"),
    ("profile: script from a ConfigMap", a_profile(model={"scriptRef": FROM}), ""),
    ("profile: ConfigMap key with a slash",
     a_profile(model={"scriptRef": {"configMapKeyRef": {"name": "c", "key": "a/b"}}}),
     "spec.model.scriptRef.configMapKeyRef.key"),
    ("profile: endpoint without scheme", a_profile(model={"baseUrl": "x/v1"}), "spec.model.baseUrl"),
    ("profile: Secret without key", a_profile(model={"apiKeySecretRef": {"name": "s"}}),
     "spec.model.apiKeySecretRef.key"),
    ("profile: a tool that is none", a_profile(tools={"enabled": ["bash", "rm"]}), "spec.tools.enabled[1]"),
    ("profile: a tool twice", a_profile(tools={"enabled": ["bash", "bash"]}), "spec.tools.enabled[1]"),
    ("profile: no tools at all", a_profile(tools={"enabled": []}), ""),
    ("profile: null among tools", a_profile(tools={"enabled": [None]}), "spec.tools.enabled[0]"),
    ("profile: a model twice", a_profile(allowedModels=["m", "m"]), "spec.allowedModels[1]"),
    ("profile: too many models", a_profile(allowedModels=[f"m{n}" for n in range(65)]), "spec.allowedModels"),
    ("profile: class name with a slash", a_profile(allowedClasses=["a/b"]), "spec.allowedClasses[0]"),
    ("profile: network of nonsense", a_profile(runner={"network": {"allow": ["10.0.0.0/99"]}}),
     "spec.runner.network.allow[0]"),
    ("profile: pull policy of nonsense", a_profile(runner={"imagePullPolicy": "always"}),
     "spec.runner.imagePullPolicy"),
    ("profile: request above limit",
     a_profile(runner={"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1900m"}}}),
     "spec.runner.resources.requests"),
    ("profile: a volume per thread", a_profile(persistence={"type": "Volume"}), ""),
    ("profile: a volume of its own kind",
     a_profile(persistence={"type": "Volume", "volume": {"size": "512Mi", "storageClassName": "fast",
                                                         "accessMode": "ReadWriteOncePod", "retentionSeconds": 0,
                                                         "keepRuns": 1}}), ""),
    ("profile: a database", a_profile(persistence=_DATABASE), ""),
    ("profile: a database without its Secret", a_profile(persistence={"type": "Postgres"}),
     "spec.persistence.postgres"),
    ("profile: a database without a key",
     a_profile(persistence={"type": "Postgres", "postgres": {"dsnSecretRef": {"name": "s"}}}),
     "spec.persistence.postgres.dsnSecretRef.key"),
    ("profile: a volume with nothing to keep", a_profile(persistence={"volume": {"size": "1Gi"}}),
     "spec.persistence.volume"),
    ("profile: volume and database", a_profile(persistence={**_DATABASE, "volume": {}}), "spec.persistence.volume"),
    ("profile: database and volume", a_profile(persistence={**_DATABASE, "type": "Volume"}),
     "spec.persistence.postgres"),
    ("profile: persistence of nonsense", a_profile(persistence={"type": "Redis"}), "spec.persistence.type"),
    ("profile: a volume of no size", a_profile(persistence={"type": "Volume", "volume": {"size": "0Gi"}}),
     "spec.persistence.volume.size"),
    ("profile: a volume kept for less than nothing",
     a_profile(persistence={"type": "Volume", "volume": {"retentionSeconds": -1}}),
     "spec.persistence.volume.retentionSeconds"),
    ("profile: a volume that keeps no run",
     a_profile(persistence={"type": "Volume", "volume": {"keepRuns": 0}}), "spec.persistence.volume.keepRuns"),
    ("profile: name with dots", a_profile(name="team.coder"), ""),
]  # fmt: skip

_SANDBOX_CASES: list[tuple[str, Json, str]] = [
    ("sandbox: least", a_sandbox(), ""),
    ("sandbox: all fields", a_sandbox(userId="u", idleSeconds=1, maxLifetimeSeconds=60), ""),
    ("sandbox: no class", a_sandbox(classRef=...), "spec.classRef"),
    ("sandbox: no thread", a_sandbox(threadId=...), "spec.threadId"),
    ("sandbox: short life", a_sandbox(maxLifetimeSeconds=59), "spec.maxLifetimeSeconds"),
    ("sandbox: name of 63", a_sandbox(name="a" * 63), ""),
    ("sandbox: name of 64", a_sandbox(name="a" * 64), "metadata.name"),
    ("sandbox: name with a dot", a_sandbox(name="a.b"), "metadata.name"),
]

_CLASS_CASES: list[tuple[str, Json, str]] = [
    ("class: least", a_class(), ""),
    ("class: no spec", {k: v for k, v in a_class().items() if k != "spec"}, ""),
    ("class: all fields", a_class(
        provider="Pod", release="Destroy", idleSeconds=1, maxLifetimeSeconds=60, workspaceSize="512Mi",
        network={"egress": "Internet", "allow": ["192.0.2.0/24", "2001:db8::/32"]},
        template={
            "image": "i", "imagePullPolicy": "Always", "env": [{"name": "A", "value": "b"}, {"name": "B"}],
            "resources": {"requests": {"cpu": "100m"}}, "runtimeClassName": "gvisor",
            "nodeSelector": {"kubernetes.io/arch": "amd64"}, "userNamespace": False,
            "tolerations": [{"key": "k", "operator": "Equal", "value": "v", "effect": "NoExecute",
                             "tolerationSeconds": 0}],
        },
    ), ""),
    ("class: provider of later", a_class(provider="Pool"), "spec.provider"),
    ("class: egress of nonsense", a_class(network={"egress": "All"}), "spec.network.egress"),
    ("class: size without unit", a_class(workspaceSize="5"), "spec.workspaceSize"),
    ("class: size with line break", a_class(workspaceSize="5Gi\n"), "spec.workspaceSize"),
    ("class: variable twice", a_class(template={"env": [{"name": "A"}, {"name": "A"}]}), "spec.template.env[1]"),
    ("class: variable without name", a_class(template={"env": [{"value": "x"}]}), "spec.template.env[0].name"),
    ("class: variable from a Secret", a_class(template={"env": [{"name": "A", "valueFrom": {}}]}),
     "spec.template.env[0].valueFrom"),
    ("class: variable named 1A", a_class(template={"env": [{"name": "1A"}]}), "spec.template.env[0].name"),
    ("class: privileged", a_class(template={"securityContext": {}}), "spec.template.securityContext"),
    ("class: selector key too long", a_class(template={"nodeSelector": {"k" * 317: "v"}}),
     "spec.template.nodeSelector"),
    ("class: selector value too long", a_class(template={"nodeSelector": {"k": "v" * 64}}),
     "spec.template.nodeSelector.k"),
    ("class: CIDRs of all kinds", _allows("0.0.0.0/0", "::/0", "192.0.2.1/24", "2001:db8::1/128"), ""),
    ("class: CIDR without length", _allows("192.0.2.0"), "spec.network.allow[0]"),
    ("class: CIDR too wide", _allows("192.0.2.0/33"), "spec.network.allow[0]"),
    ("class: CIDR of 5 parts", _allows("1.2.3.4.5/8"), "spec.network.allow[0]"),
    ("class: CIDR with leading zeros", _allows("192.0.2.0/24", "010.0.0.0/8"), "spec.network.allow[1]"),
    ("class: CIDR with padded length", _allows("10.0.0.0/08"), "spec.network.allow[0]"),
    ("class: CIDR of a mapped address", _allows("::ffff:10.0.0.0/104"), "spec.network.allow[0]"),
    ("class: CIDR of letters", _allows("abc/8"), "spec.network.allow[0]"),
    ("class: request equals limit", _resources({"memory": "1Gi"}, {"memory": "1024Mi"}), ""),
    ("class: request above limit", _resources({"memory": "1Gi"}, {"memory": "1G"}), f"{RESOURCES}.requests"),
    ("class: request in milli", _resources({"cpu": "1001m"}, {"cpu": "1"}), f"{RESOURCES}.requests"),
    ("class: request with a point", _resources({"cpu": "0.5"}, {"cpu": "0.50"}), ""),
    ("class: request in Ei", _resources({"memory": "1Ei"}, {"memory": "2E"}), ""),
    ("class: request in Ki", _resources({"memory": "1025Ki"}, {"memory": "1Mi"}), f"{RESOURCES}.requests"),
    ("class: request in k", _resources({"memory": "1000k"}, {"memory": "1M"}), ""),
    ("class: request without limit", _resources({"cpu": "9"}, {"memory": "1"}), ""),
    ("class: resource name too long", _resources({"r" * 254: "1"}, {}), f"{RESOURCES}.requests"),
    ("class: quantity of nonsense", _resources({"cpu": "one"}, {}), f"{RESOURCES}.requests.cpu"),
    ("class: quantity a number", _resources({"cpu": 1}, {}), f"{RESOURCES}.requests.cpu"),
    ("class: tolerates all", _tolerates(operator="Exists"), ""),
    ("class: toleration empty", _tolerates(), f"{TOLERATION}.operator"),
    ("class: toleration without key", _tolerates(operator="Equal", value="v"), f"{TOLERATION}.operator"),
    ("class: toleration exists with value", _tolerates(key="k", operator="Exists", value="v"), f"{TOLERATION}.value"),
    ("class: toleration seconds alone", _tolerates(key="k", tolerationSeconds=1), f"{TOLERATION}.effect"),
    ("class: two rules broken", _tolerates(tolerationSeconds=1), f"{TOLERATION}.effect {TOLERATION}.operator"),
]  # fmt: skip

CASES: tuple[Case, ...] = tuple(
    Case(name, manifest, frozenset(faults.split()))
    for name, manifest, faults in (
        *_RUN_CASES,
        *_PROFILE_CASES,
        *((name, a_profile(**spec), faults) for name, spec, faults in PIPELINE_SPECS),
        *_SANDBOX_CASES,
        *_CLASS_CASES,
    )
)
